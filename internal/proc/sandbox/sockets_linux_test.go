package sandbox

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/inside"
)

// probeSockets makes sockets of all kinds, and says of each whether that was open or shut. address is a server of TCP.
func probeSockets(address string) int {
	say := func(what string, fd int, err error) {
		if err != nil {
			fmt.Printf("%s: shut (%v)\n", what, err)
			return
		}
		_ = unix.Close(fd)
		fmt.Println(what + ": open")
	}
	for what, s := range map[string][3]int{
		"TCP":          {unix.AF_INET, unix.SOCK_STREAM, 0},
		"TCP 6":        {unix.AF_INET6, unix.SOCK_STREAM, 0},
		"multipath":    {unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP},
		"UDP":          {unix.AF_INET, unix.SOCK_DGRAM, 0},
		"UDP 6":        {unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_UDP},
		"unix":         {unix.AF_UNIX, unix.SOCK_STREAM, 0},
		"unix packets": {unix.AF_UNIX, unix.SOCK_SEQPACKET | unix.SOCK_CLOEXEC, 0},
		"interfaces":   {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE},
		"events":       {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT},
		"ciphers":      {unix.AF_ALG, unix.SOCK_SEQPACKET, 0},
	} {
		fd, err := unix.Socket(s[0], s[1], s[2])
		say(what, fd, err)
	}
	for what, kind := range map[string]int{"pair of streams": unix.SOCK_STREAM, "pair of datagrams": unix.SOCK_DGRAM} {
		pair, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
		say(what, pair[0], err)
	}
	var ring [120]byte
	fd, _, no := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&ring)), 0)
	if no != 0 {
		say("io_uring", -1, no)
	} else {
		say("io_uring", int(fd), nil)
	}
	at := netip.MustParseAddrPort(address)
	fd2, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		to := &unix.SockaddrInet4{Addr: at.Addr().As4(), Port: int(at.Port())}
		err = unix.Sendto(fd2, []byte("x"), unix.MSG_FASTOPEN, to)
	}
	say("fast open", fd2, err)
	return 0
}

// TestSockets makes sockets within Landlock: with the filter, with what it leaves out when all are asked for, and
// without it.
func TestSockets(t *testing.T) {
	if !inside.KnowsSockets() {
		t.Fatal("this kernel or architecture knows no filter")
	}
	g := newGround(t)
	all := g.options(Landlock, nil)
	all.Sockets = allSockets
	never, said := []string{"multipath", "ciphers", "io_uring", "fast open", "events"}, ""
	abi, _ := llsys.LandlockGetABIVersion()
	if abi < llUnix { // else it says itself which may be spoken to
		never, said = append(never, "unix", "unix packets", "pair of datagrams"), "no other socket can be made"
	}
	if abi < llUDP {
		never = append(never, "UDP", "UDP 6")
	}
	for name, test := range map[string]struct {
		box  proc.Box
		shut []string
		says string // of the sandbox's line
	}{
		"as usual":         {g.open(t, g.options(Landlock, nil)).Box(Works), never, said},
		"all":              {g.open(t, all).Box(Works), never[:5:5], ""},
		"without a filter": {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			r, err := proc.Run(t.Context(), proc.Spec{
				Argv: []string{g.self, "sockets", g.TCP}, Dir: g.Worktree,
				Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.Home}, Box: test.box, Stdout: &out, Stderr: &out,
				Timeout: time.Minute,
			})
			if err != nil || r.Exit != 0 {
				t.Fatalf("%v %+v %s", err, r, out.String())
			}
			shut := map[string]bool{}
			for _, what := range test.shut {
				shut[what] = true
			}
			for line := range strings.Lines(out.String()) {
				what, how, _ := strings.Cut(strings.TrimSpace(line), ": ")
				if test.box == nil && slices.Contains([]string{"ciphers", "io_uring", "multipath", "fast open"}, what) {
					continue // as the kernel has it
				}
				if strings.HasPrefix(how, "shut") != shut[what] {
					t.Errorf("%s: %s", what, how)
				}
			}
			if test.says != "" && !strings.Contains(g.log.String(), test.says) {
				t.Errorf("the log does not say %q: %s", test.says, g.log.String())
			}
		})
	}
}
