package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain is two programs: the tests, and a hostile program that tries what it can.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "probe":
			os.Exit(probe(os.Args[2]))
		case "sockets":
			os.Exit(probeSockets(os.Args[2]))
		case "wait": // until standard input ends
			fmt.Println("here")
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// targets are what the hostile program is told to try.
type targets struct {
	Worktree, Home, Outside, Key, Login, Shown string
	Writable, Neighbor                         string
	Victim                                     int    // a process of the same user
	TCP, UDP                                   string // servers of the machine
	Sockets                                    []string
	Allowed, Denied, Carried                   string // hosts and ports
}

// probe tries everything, and says of each whether it was open or shut.
func probe(told string) int {
	var t targets
	if err := json.Unmarshal([]byte(told), &t); err != nil {
		return 2
	}
	say := func(what string, err error) {
		if err == nil {
			fmt.Println(what + ": open")
		} else {
			fmt.Printf("%s: shut (%v)\n", what, err)
		}
	}
	say("write the worktree", write(filepath.Join(t.Worktree, "new.txt")))
	say("write a file of the worktree", write(filepath.Join(t.Worktree, "file.txt")))
	say("write home", write(filepath.Join(os.Getenv("HOME"), "new.txt")))
	say("write tmp", write(filepath.Join(os.TempDir(), "new.txt")))
	say("write a cache", os.MkdirAll(os.Getenv("GOCACHE"), 0o700))
	say("write what is named", write(filepath.Join(t.Writable, "new.txt")))
	say("read a tool in home", read(t.Shown))
	say("write outside", write(t.Outside))
	say("write a tool in home", write(t.Shown))
	say("read a key", read(t.Key))
	say("read a neighbor's file", read(t.Neighbor))
	say("read a login", read(t.Login))
	say("write git hooks", write(filepath.Join(t.Worktree, ".git", "hooks", "post-checkout")))
	say("write git config", write(filepath.Join(t.Worktree, ".git", "config")))
	say("write where objects come from", write(filepath.Join(t.Worktree, ".git", "objects", "info", "alternates")))
	say("write git objects", write(filepath.Join(t.Worktree, ".git", "objects", "new")))
	say("move git away", os.Rename(filepath.Join(t.Worktree, ".git"), filepath.Join(t.Worktree, ".git2")))
	say("write settings", write(filepath.Join(t.Worktree, ".ralph", "settings.local.json")))
	say("read another's environment", readSecret(fmt.Sprintf("/proc/%d/environ", t.Victim)))
	say("signal another", syscall.Kill(t.Victim, syscall.SIGCONT))
	say("trace another", trace(t.Victim))
	say("mount", mount(filepath.Join(t.Worktree, "mounted"))) // of our own: should it succeed, nothing else is hidden
	say("write a sysctl", write("/proc/sys/kernel/core_pattern"))
	say("make a device", unix.Mknod(filepath.Join(t.Worktree, "device"), unix.S_IFBLK|0o600, 1<<8))
	say("direct TCP", dial("tcp", t.TCP))
	say("UDP", datagram(t.UDP))
	for i, socket := range t.Sockets {
		say(fmt.Sprintf("unix socket %d", i), dial("unix", socket))
	}
	say("loopback", loopback())
	say("allowed host", fetch("http://"+t.Allowed))
	say("allowed host by CONNECT", connect(t.Allowed))
	say("denied host", fetch("http://"+t.Denied))
	say("denied host by CONNECT", connect(t.Denied))
	say("the agent's model", dial("tcp", t.Carried))
	return 0
}

func write(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func read(path string) error {
	content, err := os.ReadFile(path)
	if err == nil && len(content) == 0 {
		err = errors.New("nothing in it")
	}
	return err
}

func readSecret(path string) error {
	content, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(content), "PROBE_SECRET=") {
		err = errors.New("another process has this number")
	}
	return err
}

func trace(pid int) error {
	if err := unix.PtraceSeize(pid); err != nil {
		return err
	}
	return nil
}

func dial(network, address string) error {
	c, err := net.DialTimeout(network, address, 5*time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// datagram is open when it is answered.
func datagram(address string) error {
	c, err := net.Dial("udp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := c.Write([]byte("hello")); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 16))
	return err
}

// loopback is a server of a test, and who asks it.
func loopback() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err == nil {
			c.Close()
		}
	}()
	return dial("tcp", l.Addr().String())
}

func fetch(page string) error {
	proxy, err := url.Parse(os.Getenv("HTTP_PROXY"))
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Timeout: 5 * time.Second,
		Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}).Get(page)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%d %s", answer.StatusCode, strings.TrimSpace(string(said)))
	}
	return nil
}

func connect(address string) error {
	c, err := net.Dial("tcp", strings.TrimPrefix(os.Getenv("HTTPS_PROXY"), "http://"))
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", address, address)
	from := bufio.NewReader(c)
	answer, err := http.ReadResponse(from, nil)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if answer, err = http.ReadResponse(from, nil); err != nil {
		return err
	}
	return answer.Body.Close()
}

func mount(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	err := unix.Mount("none", dir, "tmpfs", 0, "")
	if err == nil {
		_ = unix.Unmount(dir, unix.MNT_DETACH)
	}
	return err
}
