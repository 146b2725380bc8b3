//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// networkProbes reach for hosts, for sockets of this machine, and for the model.
var networkProbes = []probe{
	{tcp, "a server of this machine", everyone, func(a *attempt) string { return dials("tcp", a.TCP) }},
	{tcp, "a server of this machine, by its other names", everyone, func(a *attempt) string {
		p := port(a.TCP)
		return dials("tcp", "localhost:"+p, "0.0.0.0:"+p, "127.1.2.3:"+p, "[::1]:"+p, "[::ffff:127.0.0.1]:"+p)
	}},
	{tcp, "a server of this machine, by multipath TCP", everyone, func(a *attempt) string {
		d := net.Dialer{Timeout: 2 * time.Second}
		d.SetMultipathTCP(true)
		return dial(d, "tcp", a.TCP)
	}},
	{tcp, "a server of this machine, by the first bytes sent with the call", everyone, func(a *attempt) string {
		return done(fastOpen(a.TCP))
	}},
	{tcp, "a server at a port as servers of tests get", everyone, func(a *attempt) string { return dials("tcp", a.Late) }},
	{proxied, "by its address", everyone, func(a *attempt) string { return byProxy("http://" + a.TCP + "/") }},
	{proxied, "by another name of it", everyone, func(a *attempt) string {
		for _, host := range []string{"localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"} {
			if seen := byProxy("http://" + host + ":" + port(a.TCP) + "/"); seen != "" {
				return seen
			}
		}
		return ""
	}},
	{proxied, "by CONNECT", everyone, func(a *attempt) string {
		if os.Getenv("HTTPS_PROXY") == "" {
			return dials("tcp", a.TCP)
		}
		return proxyLine("CONNECT "+a.TCP, a.TCP, "")
	}},
	{proxied, "by a header that names one that is allowed", everyone, func(a *attempt) string {
		return proxyLine("GET http://"+a.TCP+"/", "registry.npmjs.org", "probe-server")
	}},
	{proxied, "the addresses of a cloud", everyone, func(*attempt) string {
		return byProxy("http://169.254.169.254/latest/meta-data/") + dials("tcp", "169.254.169.254:80", "168.63.129.16:80")
	}},
	{datagrams, "UDP", everyone, func(a *attempt) string { return echo("udp", a.UDP) }},
	{datagrams, "raw sockets", everyone, calls(func() error {
		return opened(unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP))
	})},
	{datagrams, "frames of the network", everyone, calls(func() error {
		return opened(unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0x0300))
	})},
	{datagrams, "settings of the network, by netlink", everyone, calls(func() error {
		if err := opened(unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)); err != nil {
			return err
		}
		return capable(1 << unix.CAP_NET_ADMIN) // the kernel asks for it, and nothing is made to find out
	})},
	{bearerKey, "by a gateway, with no bearer or a guessed one", everyone, func(a *attempt) string {
		address, _ := a.earlier()
		for _, bearer := range []string{"", "x", "Bearer", strings.Repeat("0", 64)} {
			if seen := askModel(os.Getenv("ANTHROPIC_BASE_URL"), bearer) + askModel(address, bearer); seen != "" {
				return seen
			}
		}
		return ""
	}},
	{bearerKey, "by the bearer of an earlier turn", after, func(a *attempt) string {
		address, bearer := a.earlier()
		if address == "" {
			return ""
		}
		return askModel(address, bearer) + askModel(os.Getenv("ANTHROPIC_BASE_URL"), bearer)
	}},
	{unixSocket, "in a directory for all", everyone, func(a *attempt) string { return dials("unix", a.Socket) }},
	{unixSocket, "by the root of another process", everyone, func(a *attempt) string {
		return anywhere(dialUnix, "$others/root"+a.Socket)(a)
	}},
	{unixSocket, "without a file", everyone, func(a *attempt) string { return dials("unix", "@"+a.Abstract) }},
	{unixSocket, "of an engine of containers", everyone, anywhere(dialUnix, "/run/docker.sock", "/var/run/docker.sock",
		"/run/podman/podman.sock", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket", "/run/systemd/private")},
	{unixSocket, "of another box", everyone, func(a *attempt) string {
		own, _ := filepath.EvalSymlinks("/run/ralph/egress/sock")
		list, _ := os.ReadFile("/proc/net/unix")
		for line := range bytes.Lines(list) {
			fields := strings.Fields(string(line))
			if len(fields) > 7 && strings.HasPrefix(fields[7], a.Temp) && fields[7] != own {
				if seen := dials("unix", fields[7]); seen != "" {
					return seen
				}
			}
		}
		return anywhere(dialUnix, "$temp/*/*/sock", "$temp/*/*/*/sock")(a)
	}},

	{works, "write the worktree", agent, makes("$here")},
	{works, "write its home", everyone, anywhere(func(_ *attempt, dir string) string { return makeIn(dir) }, "$own")},
	{works, "write temporary files", everyone, makes("$tmp")},
	{works, "have its model answer", agent, func(a *attempt) string { return askModel(a.earlier()) }},
	{works, "a server of its own", everyone, func(*attempt) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return ""
		}
		defer l.Close()
		return dials("tcp", l.Addr().String())
	}},
}

func dials(network string, addresses ...string) string {
	for _, address := range addresses {
		if seen := dial(net.Dialer{Timeout: 2 * time.Second}, network, address); seen != "" {
			return seen
		}
	}
	return ""
}

func dialUnix(_ *attempt, path string) string { return dials("unix", path) }

func dial(d net.Dialer, network, address string) string {
	c, err := d.Dial(network, address)
	if err != nil {
		return ""
	}
	c.Close()
	return network + " " + address
}

// echo sends to a server that answers.
func echo(network, address string) string {
	c, err := net.Dial(network, address)
	if err != nil {
		return ""
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := c.Write([]byte("hello")); err != nil {
		return ""
	}
	if n, err := c.Read(make([]byte, 16)); err != nil || n == 0 {
		return ""
	}
	return network + " " + address
}

func port(address string) string {
	_, p, _ := net.SplitHostPort(address)
	return p
}

// byProxy asks the proxy, if there is one, for a page of the server. An answer of the proxy's own does not count.
func byProxy(page string) string {
	answer, err := (&http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) {
		if proxy := os.Getenv("HTTP_PROXY"); proxy != "" {
			return url.Parse(proxy)
		}
		return nil, nil
	}}}).Get(page)
	return answered(page, "probe-server", answer, err)
}

// answered reports whether an answer is good, and has a text.
func answered(what, text string, answer *http.Response, err error) string {
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return ""
	}
	if text != "" {
		if said, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<16)); !bytes.Contains(said, []byte(text)) {
			return ""
		}
	}
	return what
}

// proxyLine sends a request line to the proxy, if there is one, with a host in the header.
func proxyLine(line, host, want string) string {
	proxy, err := url.Parse(os.Getenv("HTTP_PROXY"))
	if err != nil || proxy.Host == "" {
		return ""
	}
	c, err := net.DialTimeout("tcp", proxy.Host, 2*time.Second)
	if err != nil {
		return ""
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(3 * time.Second))
	fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", line, host)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	return answered(line, want, answer, err)
}

// fastOpen connects without connect.
func fastOpen(address string) error {
	host, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	to := unix.SockaddrInet4{Port: host.Port}
	copy(to.Addr[:], host.IP.To4())
	return unix.Sendto(fd, []byte("hello"), unix.MSG_FASTOPEN, &to)
}

// earlier is the gateway of the agent, and the bearer that it got.
func (a *attempt) earlier() (address, bearer string) {
	old, _ := os.ReadFile(filepath.Join(a.Reports, "bearer"))
	address, bearer, _ = strings.Cut(string(old), " ")
	return address, bearer
}

// askModel asks the model for an answer through a gateway.
func askModel(base, bearer string) string {
	body := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
	request, err := http.NewRequest(http.MethodPost, base+"/v1/messages", strings.NewReader(body))
	if err != nil || base == "" {
		return ""
	}
	if bearer != "" {
		request.Header.Set("x-api-key", bearer)
	}
	answer, err := (&http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{}}).Do(request)
	return answered("an answer of the model", "", answer, err)
}
