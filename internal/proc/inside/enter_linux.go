package inside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// run makes this process what args, those behind Entry, say it is to become, within a box. It returns only when that
// fails, with an exit code; the reason is on standard error.
func run(args []string) int {
	err := enter(args)
	fmt.Fprintln(os.Stderr, "ralph: entering the sandbox:", err)
	switch {
	case errors.Is(err, syscall.ENOENT):
		return 127
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.ENOEXEC):
		return 126
	}
	return 125
}

func enter(args []string) (err error) {
	runtime.LockOSThread() // which gives things up, and becomes the program
	var in Steps
	if len(args) < 3 {
		return errors.New("this is no command for people")
	}
	if err := json.Unmarshal([]byte(args[0]), &in); err != nil {
		return fmt.Errorf("reading what to do: %w", err)
	}
	env := os.Environ()
	if in.Socket != "" {
		address, err := handOver(in.Socket, in.Carry)
		if err != nil {
			return err
		}
		env = With(env, Proxied(address))
	}
	if len(in.Layers) > 0 {
		if err := lay(in.Layers); err != nil {
			return err
		}
	}
	if len(in.Read) > 0 {
		if err := restrict(in); err != nil {
			return err
		}
	}
	if in.Sockets != nil {
		if err := keepTo(*in.Sockets); err != nil {
			return err
		}
	}
	if in.Processes > 0 {
		_ = unix.Setrlimit(rlimitNPROC, &unix.Rlimit{Cur: in.Processes, Max: in.Processes}) // else ralph sees to it alone
	}
	program := args[1]
	if filepath.Base(program) == program { // one of this box
		if program, err = onPath(program); err != nil {
			return err
		}
	}
	if err = syscall.Exec(program, args[2:], env); errors.Is(err, syscall.ENOENT) && interpreter(program) != "" {
		program += ": its interpreter " + interpreter(program)
	}
	return fmt.Errorf("running %s: %w", program, err)
}

// interpreter is what the first line of a program names; "" if it names none.
func interpreter(program string) string {
	text, _ := os.ReadFile(program)
	line, _, _ := strings.Cut(string(text[:min(len(text), 256)]), "\n")
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 {
		return ""
	}
	return words[0]
}

// rlimitNPROC is RLIMIT_NPROC of all systems that Linux runs on but MIPS and SPARC.
const rlimitNPROC = 6

// value is a variable of the environment.
func value(name string) string {
	for _, entry := range os.Environ() {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			return v
		}
	}
	return ""
}

// onPath finds a program of this box.
func onPath(name string) (string, error) {
	for _, dir := range filepath.SplitList(value("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() &&
			info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w on PATH", name, syscall.ENOENT)
}

// handOver listens in the network of the box, and gives the listeners to someone outside, the proxy's last: it
// must not take a port that is carried. It returns the address of the proxy.
func handOver(socket string, carry []string) (address string, err error) {
	var files []int
	var plain net.ListenConfig
	plain.SetMultipathTCP(false)
	for _, at := range append(slices.Clone(carry), "127.0.0.1:0") {
		l, err := plain.Listen(context.Background(), "tcp4", at)
		if err != nil {
			return "", fmt.Errorf("listening in the box: %w", err)
		}
		address = l.Addr().String()
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			return "", fmt.Errorf("listening in the box: %w", err)
		}
		files = append(files, int(f.Fd()))
	}
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return "", fmt.Errorf("reaching ralph: %w", err)
	}
	defer c.Close()
	if _, _, err := c.WriteMsgUnix([]byte{1}, unix.UnixRights(files...), nil); err != nil {
		return "", fmt.Errorf("reaching ralph: %w", err)
	}
	if _, err := c.Read(make([]byte, 1)); err != nil {
		return "", fmt.Errorf("hearing from ralph: %w", err)
	}
	return address, nil
}

// lay mounts layers, covers what they are made of, and gives up the right to mount. The places are what earlier
// processes in this box's home have made of them: they lead nowhere but within the box.
func lay(layers []Layer) error {
	// the namespace of mounts is that of the process that made the box, in which we have no rights
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("mounting caches: %w", err)
	}
	for _, l := range layers {
		for _, dir := range []string{l.At, l.Upper, l.Work} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return fmt.Errorf("mounting caches: %w", err)
			}
		}
		data := "userxattr,lowerdir=" + strings.Join(l.Lower, ":") + ",upperdir=" + l.Upper + ",workdir=" + l.Work
		if err := unix.Mount("overlay", l.At, "overlay", unix.MS_NOSUID|unix.MS_NODEV, data); err != nil {
			return fmt.Errorf("mounting a cache at %s: %w", l.At, err)
		}
	}
	if err := unix.Mount("none", LayersDir, "tmpfs", unix.MS_RDONLY, "size=4k"); err != nil {
		return fmt.Errorf("mounting caches: %w", err)
	}
	return powerless()
}
