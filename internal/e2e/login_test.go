//go:build e2e

package e2e_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/model"
)

// saved is what claude keeps of a login, which ends in a time from now.
func saved(token string, in time.Duration) string {
	return fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"%s","refreshToken":"to-renew","expiresAt":%d,`+
		`"scopes":["user:inference","user:profile"],"subscriptionType":"max"}}`, token, time.Now().Add(in).UnixMilli())
}

// TestRealClaudeLogsIn: a login that has expired is renewed by the CLI itself, one that is refused while the turn runs
// counts as it stands in its file by then, and one that nobody can renew leaves the run waiting.
func TestRealClaudeLogsIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		in     time.Duration // until the saved login ends
		renews bool          // its provider gives another for it
		meets  bool          // somebody logs in again while the turn runs
		exit   int
	}{
		{name: "expired", in: -time.Hour, renews: true},
		{name: "refused, and renewed by somebody", in: time.Hour, meets: true},
		{name: "expired for good", in: -time.Hour, exit: 3},
		{name: "refused for good", in: time.Hour, exit: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			login, dir := cli{name: "claude", env: []string{"ANTHROPIC_BASE_URL={model}"}}, project(t, nil)
			m := model.New(model.Scenario("ok")...)
			defer m.Close()
			m.Key = realKey
			file, at := "", m.URL
			if c.meets {
				at = inFrontOf(t, m.URL, func() { putFile(t, file, saved(realKey, time.Hour)) })
			}
			proxy, ca, renewed := loginProvider(t, c.renews)
			cmd, home := login.command(t, at, dir, "run", "--prompt", "Create hello.txt", "--gateway", "require", "-m", "1")
			cmd.Env = append(cmd.Env, "HTTPS_PROXY="+proxy, "https_proxy="+proxy, "NODE_EXTRA_CA_CERTS="+ca)
			file = filepath.Join(home, ".claude", ".credentials.json")
			putFile(t, file, saved("old-token-0123456789", c.in))
			said := run(t, cmd, c.exit)
			if _, err := os.Stat(filepath.Join(dir, "hello.txt")); (err == nil) != (c.exit == 0) {
				t.Errorf("hello.txt: %v\n%s", err, said)
			}
			if strings.Contains(said, "log in again") != (c.exit != 0) {
				t.Errorf("it said:\n%s", said)
			}
			if asked := renewed.Load(); (asked > 0) != (c.in < 0) {
				t.Errorf("a renewal was asked for %d times", asked)
			}
			if unknown := m.Unknown(); len(unknown) > 0 {
				t.Errorf("the model was asked for %v", unknown)
			}
		})
	}
}

// inFrontOf passes requests on, and does something when the first one comes.
func inFrontOf(t *testing.T, to string, first func()) string {
	t.Helper()
	base, err := url.Parse(to)
	noError(t, err)
	var asked atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(base)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && asked.Add(1) == 1 {
			first()
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// loginProvider stands for all hosts behind a proxy. It renews a login, or refuses to, and counts how often it was
// asked.
func loginProvider(t *testing.T, renews bool) (proxy, ca string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	host := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/v1/oauth/token" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"not_found"}`)
			return
		}
		asked.Add(1)
		if !renews {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
			return
		}
		_, _ = io.WriteString(w, `{"token_type":"Bearer","access_token":"`+realKey+`","refresh_token":"to-renew",`+
			`"expires_in":28800,"scope":"user:inference user:profile"}`)
	}))
	certificate, root := certified(t, "platform.claude.com", "api.anthropic.com")
	host.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	host.StartTLS()
	t.Cleanup(host.Close)
	ca = filepath.Join(t.TempDir(), "ca.pem")
	putFile(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root})))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go tunnel(client, host.Listener.Addr().String())
		}
	}()
	return "http://" + listener.Addr().String(), ca, asked
}

// tunnel leads whoever asks for any host to one address.
func tunnel(client net.Conn, to string) {
	defer client.Close()
	asked := bufio.NewReader(client)
	if r, err := http.ReadRequest(asked); err != nil || r.Method != http.MethodConnect {
		return
	}
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(server, asked) }()
	_, _ = io.Copy(client, server)
}

// certified is a certificate for hosts, and that of the authority that has signed it.
func certified(t *testing.T, hosts ...string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noError(t, err)
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority for a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign}
	root, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	noError(t, err)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: hosts, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter}
	signed, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, key)
	noError(t, err)
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}, root
}
