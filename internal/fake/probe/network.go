//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func bpf() string {
	var b [64]byte // a map of one number
	for i, n := range []uint32{2, 4, 4, 1} {
		binary.NativeEndian.PutUint32(b[i*4:], n)
	}
	fd, _, err := unix.Syscall(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&b[0])), 64)
	runtime.KeepAlive(&b)
	if err != 0 {
		return ""
	}
	unix.Close(int(fd))
	return "bpf"
}

func dials(network string, addresses ...string) string {
	for _, address := range addresses {
		c, err := (&net.Dialer{Timeout: 2 * time.Second}).Dial(network, address)
		if err == nil {
			c.Close()
			return network + " " + address
		}
	}
	return ""
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

// byProxy asks the proxy for a page. To be refused by it is not to reach it.
func byProxy(page string) string {
	proxy, err := url.Parse(os.Getenv("HTTP_PROXY"))
	if err != nil || proxy.Host == "" {
		return direct(page)
	}
	answer, err := (&http.Client{Timeout: 3 * time.Second,
		Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}).Get(page)
	return answered(page, answer, err)
}

func direct(page string) string {
	answer, err := (&http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{}}).Get(page)
	return answered(page, answer, err)
}

func answered(page string, answer *http.Response, err error) string {
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
	if answer.StatusCode != http.StatusOK || !bytes.Contains(said, []byte("probe-server")) {
		return ""
	}
	return page
}

func byConnect(address string) string {
	proxy, err := url.Parse(os.Getenv("HTTPS_PROXY"))
	if err != nil || proxy.Host == "" {
		return dials("tcp", address)
	}
	c, err := net.DialTimeout("tcp", proxy.Host, 2*time.Second)
	if err != nil {
		return ""
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(3 * time.Second))
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", address, address)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return ""
	}
	return "CONNECT " + address
}

// networkProbes reach for hosts.
var networkProbes = []probe{
	{tcp, "a server of this machine", forbidden, func(a *attempt) string { return dials("tcp", a.TCP) }},
	{tcp, "a server of this machine, by its other names", forbidden, func(a *attempt) string {
		p := port(a.TCP)
		return dials("tcp", "localhost:"+p, "0.0.0.0:"+p, "127.1.2.3:"+p, "[::1]:"+p, "[::ffff:127.0.0.1]:"+p)
	}},
	{tcp, "a server of this machine, by multipath TCP", forbidden, func(a *attempt) string {
		d := net.Dialer{Timeout: 2 * time.Second}
		d.SetMultipathTCP(true)
		c, err := d.Dial("tcp", a.TCP)
		if err != nil {
			return ""
		}
		c.Close()
		return "MPTCP"
	}},
	{tcp, "a server of this machine, by the first bytes sent with the call", forbidden, func(a *attempt) string {
		return fastOpen(a.TCP)
	}},
	{tcp, "a server at a port as servers of tests get", forbidden, func(a *attempt) string {
		return dials("tcp", a.Late)
	}},
	{proxied, "by its address", forbidden, func(a *attempt) string { return byProxy("http://" + a.TCP + "/") }},
	{proxied, "by another name of it", forbidden, func(a *attempt) string {
		for _, host := range []string{"localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"} {
			if seen := byProxy("http://" + host + ":" + port(a.TCP) + "/"); seen != "" {
				return seen
			}
		}
		return ""
	}},
	{proxied, "by CONNECT", forbidden, func(a *attempt) string { return byConnect(a.TCP) }},
	{proxied, "by CONNECT, at the name of one that is allowed", forbidden, func(a *attempt) string {
		return byConnect("registry.npmjs.org@" + a.TCP)
	}},
	{proxied, "by a header that names one that is allowed", forbidden, func(a *attempt) string { return a.otherHost() }},
	{proxied, "the addresses of a cloud", forbidden, func(*attempt) string {
		return byProxy("http://169.254.169.254/latest/meta-data/") + dials("tcp", "169.254.169.254:80", "168.63.129.16:80")
	}},
	{datagrams, "UDP", forbidden, func(a *attempt) string { return echo("udp", a.UDP) }},
	{datagrams, "raw sockets", forbidden, func(*attempt) string {
		return kinds([][3]int{{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
			{unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6}})
	}},
	{datagrams, "frames of the network", forbidden, func(*attempt) string {
		return kinds([][3]int{{unix.AF_PACKET, unix.SOCK_RAW, 0x0300}, {unix.AF_PACKET, unix.SOCK_DGRAM, 0x0300}})
	}},
	{datagrams, "the host of a virtual machine", forbidden, func(*attempt) string {
		fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return ""
		}
		defer unix.Close(fd)
		err = unix.Connect(fd, &unix.SockaddrVM{CID: unix.VMADDR_CID_HOST, Port: 1})
		if err == nil || errors.Is(err, unix.EINPROGRESS) || errors.Is(err, unix.ECONNRESET) {
			return "vsock"
		}
		return ""
	}},
	{datagrams, "settings of the network, by netlink", forbidden, func(*attempt) string { return netlink() }},
	{bearerKey, "by a gateway, with no bearer or a guessed one", forbidden, func(a *attempt) string {
		old, _ := os.ReadFile(filepath.Join(a.Reports, "bearer"))
		address, _, _ := strings.Cut(string(old), " ")
		for _, bearer := range []string{"", "x", "Bearer", strings.Repeat("0", 64)} {
			if seen := a.model(os.Getenv("ANTHROPIC_BASE_URL"), bearer) + a.model(address, bearer); seen != "" {
				return seen
			}
		}
		return ""
	}},
	{bearerKey, "by the bearer of an earlier turn", ofOthers, func(a *attempt) string {
		old, err := os.ReadFile(filepath.Join(a.Reports, "bearer"))
		if err != nil {
			return ""
		}
		address, bearer, _ := strings.Cut(string(old), " ")
		return a.model(address, bearer) + a.model(os.Getenv("ANTHROPIC_BASE_URL"), bearer)
	}},
}

// otherHost asks for one host and names another in the header.
func (a *attempt) otherHost() string {
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
	fmt.Fprintf(c, "GET http://%s/ HTTP/1.1\r\nHost: registry.npmjs.org\r\nConnection: close\r\n\r\n", a.TCP)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	return answered("with the header of another", answer, err)
}

// kinds is the first kind of socket that can be had.
func kinds(of [][3]int) string {
	for _, k := range of {
		if fd, err := unix.Socket(k[0], k[1], k[2]); err == nil {
			unix.Close(fd)
			return fmt.Sprintf("a socket of kind %d, %d", k[0], k[1])
		}
	}
	return ""
}

// fastOpen connects without connect.
func fastOpen(address string) string {
	host, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return ""
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	to := unix.SockaddrInet4{Port: host.Port}
	copy(to.Addr[:], host.IP.To4())
	if err := unix.Sendto(fd, []byte("hello"), unix.MSG_FASTOPEN, &to); err != nil {
		return ""
	}
	return "MSG_FASTOPEN"
}

// netlink asks the kernel to make an interface in the network of this process.
func netlink() string {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	if unix.Capget(&header, &has[0]) != nil || has[0].Effective&(1<<unix.CAP_NET_ADMIN) == 0 {
		return "" // the kernel asks for that right, and nothing is made to find out
	}
	return "CAP_NET_ADMIN"
}

// model asks the model for an answer by a gateway.
func (a *attempt) model(base, bearer string) string {
	if base == "" {
		return ""
	}
	body := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
	request, err := http.NewRequest(http.MethodPost, base+"/v1/messages", strings.NewReader(body))
	if err != nil {
		return ""
	}
	if bearer != "" {
		request.Header.Set("x-api-key", bearer)
	}
	answer, err := (&http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{}}).Do(request)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return ""
	}
	return "an answer of the model"
}

// own is a server of a test, and who asks it.
func own() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return ""
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			c.Close()
		}
	}()
	return dials("tcp", l.Addr().String())
}
