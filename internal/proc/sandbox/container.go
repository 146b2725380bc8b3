package sandbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// container makes boxes of an engine of containers: a new one for every process, of an image that has all the programs,
// without a network. The worktree, a home and a cache are mounted at the places they have here.
type container struct {
	s       *Sandbox
	program string
	name    string
}

// pidsLimit is how many processes may be in a container when no one says it.
const pidsLimit = 4096

func (s *Sandbox) openContainer(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return &UnavailableError{"it needs Linux, whose sockets a container shares"}
	}
	if s.o.Image == "" {
		return &UnavailableError{"RALPH_SANDBOX_IMAGE names no image; it has to have git, the agent, and what the checks need"}
	}
	if err := s.prepareDirs(); err != nil {
		return err
	}
	var b [4]byte
	_, _ = rand.Read(b[:])
	c := &container{s: s, name: "ralph-box-" + hex.EncodeToString(b[:])}
	s.maker = c
	// An engine that is installed might not run: docker without its daemon.
	var broken []string
	for _, name := range []string{"docker", "podman"} {
		program, err := proc.LookPath(name, s.o.Parent)
		if err != nil {
			continue
		}
		c.program = program
		s.Line = fmt.Sprintf("sandbox: container (%s of %s): only the worktree and a home of the run's own can be written, "+
			"nothing else of this machine is there, and the network is reached only by a proxy that knows which hosts are allowed", name, s.o.Image)
		if err = s.try(ctx); err == nil || ctx.Err() != nil {
			return err
		}
		broken = append(broken, name+": "+err.Error())
	}
	if broken == nil {
		return &UnavailableError{"neither docker nor podman is installed"}
	}
	return &UnavailableError{strings.Join(broken, "; ")}
}

// ofClient are variables that the engine's client needs as they are here.
var ofClient = []string{"HOME", "PATH", "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_CERT_PATH",
	"DOCKER_TLS_VERIFY", "CONTAINER_HOST", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}

// enter implements maker.
func (c *container) enter(u Use, s proc.Spec) (proc.SandboxedCommand, error) {
	if err := c.s.prepareHome(u); err != nil {
		return proc.SandboxedCommand{}, err
	}
	g, err := c.s.open(u, s)
	if err != nil {
		return proc.SandboxedCommand{}, err
	}
	o, b := c.s.o, &bwrap{s: c.s, home: c.s.o.Home}
	if b.home == "" || b.home == "/" {
		b.home = boxDir + "/home"
	}
	in := b.dirs()
	v := visiblePaths{hidden: []string{"/"}, as: o.As} // nothing of this machine is there
	mounts, dir, err := b.mounts(u, s, v, g, readable(o))
	if err == nil {
		mounts, err = mounted(mounts)
	}
	if err != nil {
		g.close()
		return proc.SandboxedCommand{}, err
	}
	name := c.name + "-" + strconv.FormatInt(c.s.counter.Add(1), 10)
	args := []string{c.program, "run", "--rm", "--interactive", "--init", "--name", name, "--network", "none",
		"--cap-drop", "ALL",
		"--security-opt", "no-new-privileges", "--pids-limit", strconv.Itoa(cmp.Or(s.Limits.Processes, pidsLimit)),
		"--user", user(o.As), "--tmpfs", "/tmp:rw,exec,mode=1777", "--workdir", dir}
	args = append(args, mounts...)
	for _, entry := range c.s.environ(s, in) {
		switch name, _, _ := strings.Cut(entry, "="); {
		case name == "PATH": // the image knows where its programs are
		case slices.Contains(ofClient, name):
			args = append(args, "--env", entry)
		default: // by name alone: a key is nothing for a command line
			args = append(args, "--env", name)
		}
	}
	program := s.Argv[0]
	if top := clone(dir, o.Home); filepath.Base(program) != program && !over(top, relativeTo(dir, program)) {
		program = filepath.Base(program) // that of the image
	}
	args = append(append(args, "--entrypoint", boxSelf, o.Image),
		b.steps(u, g, proc.Limits{}).Arguments(relativeTo(dir, program), s.Argv)...)
	env := slices.DeleteFunc(c.s.environ(s, in),
		func(entry string) bool { name, _, _ := strings.Cut(entry, "="); return slices.Contains(ofClient, name) })
	for _, name := range ofClient {
		if value := proc.Value(o.Parent, name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	s.Argv, s.Env, s.Dir, s.As = args, env, "/", nil
	return proc.SandboxedCommand{Spec: s, Wraps: true, Leave: func() {
		c.remove(name, env)
		g.close()
	}}, nil
}

// remove ends a container whose client has been ended.
func (c *container) remove(name string, env []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, _ = proc.Run(ctx, proc.Spec{Argv: []string{c.program, "rm", "--force", name}, Env: env, Dir: "/"})
}

// user is whom a container's process is, by number: files that it makes belong to the run's user.
func user(as *proc.User) string {
	if as != nil {
		return fmt.Sprintf("%d:%d", as.UID, as.GID)
	}
	return fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
}

func readable(o Options) (args []string) {
	for _, path := range o.Readable {
		if exists(path) && !over(o.Dir, path) {
			args = append(args, "--ro-bind", path, path)
		}
	}
	return args
}

// mounted turns arguments of bubblewrap into mounts of an engine. Of two at one place the last counts: engines refuse
// both.
func mounted(binds []string) (args []string, err error) {
	last := map[string]int{}
	for i := 0; i+2 < len(binds); i += 3 {
		last[binds[i+2]] = i
	}
	for i := 0; i+2 < len(binds); i += 3 {
		from, to := binds[i+1], binds[i+2]
		if last[to] != i {
			continue
		}
		if strings.ContainsAny(from+to, ",\"\n") {
			return nil, fmt.Errorf("mounting %q in a container: its name has a comma, a quote or the end of a line in it; "+
				"rename it, or take another sandbox", from)
		}
		mount := "type=bind,source=" + from + ",target=" + to
		if binds[i] == "--ro-bind" {
			mount += ",readonly"
		}
		args = append(args, "--mount", mount)
	}
	return args, nil
}
