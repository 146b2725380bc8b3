package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/work"
)

// Containers starts each job in a container of an image that the job names. Only the job's own directory, our program
// and the mirror of its repository are there of this machine; the last two can only be read.
type Containers struct {
	Process        // Limits are those of a container; without a limit of memory it is nine tenths of what there is
	Server  string // what our containers are known by: no other server of this machine has it
	Network string // of the engine, or "host"; "": the engine's usual one
	Sockets string // a directory for the sockets of jobs, which nobody else passes

	swept  sync.Once
	trying sync.Mutex // one image is pulled and tried at a time
	mu     sync.Mutex
	ready  map[string]readied // by image and programs
}

// Places in a container. What a job writes lies in a volume that goes with the container.
const (
	inContainer = "/ralph"
	programAt   = inContainer + "/bin/ralph"
	socketsAt   = inContainer + "/job"
	mirrorAt    = inContainer + "/mirror"
	workAt      = inContainer + "/work"
)

// What containers may have.
const (
	mostProcesses = 8192
	// serverLabel and jobLabel are by what our containers are found.
	serverLabel = "ralph.server"
	jobLabel    = "ralph.job"
)

// rights are what ralph needs as root of a container to run agents as another user who reaches nothing of it, and to
// end them. Nobody gets more: not by a program with the bit of another user, either.
var rights = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID"}

// refusedStart is what an engine's client ends with when there was no container.
const refusedStart = 125

// Start implements Launcher. The image has to be ready; see Ready.
func (c *Containers) Start(ctx context.Context, job Job) (*Running, error) {
	known, ok := c.known(job.Image)
	if !ok {
		return nil, fmt.Errorf("starting a container of %s: nobody has looked whether it can be run", job.Image)
	}
	if c.Log == nil {
		c.Log = func(string, ...any) {}
	}
	r, theirs, err := prepare(ctx, job, setting{c.Mirrors, c.Environ, c.Log, c.Clock})
	if err != nil {
		return nil, err
	}
	s, err := openSockets(c.Sockets, theirs)
	if err == nil && r.models != nil && c.Network != "host" {
		err = s.carry(r.models.Addr())
	}
	if err != nil {
		_ = theirs.Close()
		_ = r.conn.Close()
		r.cleanUp()
		return nil, err
	}
	name := "ralph-" + s.name
	argv, err := c.arguments(name, s.dir, r.job)
	if err != nil {
		s.close()
		_ = r.conn.Close()
		r.cleanUp()
		return nil, err
	}
	order := &r.job.Order
	order.Workspace, order.AgentUser = workAt, ""
	if order.Mirror != "" {
		order.Mirror = mirrorAt
	}
	if s.models != nil {
		order.Models = &work.Forward{Socket: socketsAt + "/" + modelsSocket, Address: r.models.Addr().String()}
	}
	r.send(ctx)
	running, end := context.WithCancel(ctx)
	r.end = end
	go c.wait(running, r, s, known.engine, name, argv)
	return r, nil
}

// wait runs the engine's client to its end. The client may have been killed, or the engine have lost it: only a
// container that was removed has ended.
func (c *Containers) wait(ctx context.Context, r *Running, s *sockets, engine, name string, argv []string) {
	var last tail
	result, err := proc.Run(ctx, proc.Spec{Argv: append([]string{engine}, argv...), Dir: "/", Env: c.client(),
		Stdout: &last, Stderr: &last, Interrupt: cmp.Or(c.Grace, usualGrace)})
	if failed := c.remove(engine, name); failed != nil {
		c.Log("%v", failed)
	}
	s.close()
	said := r.shown(last.String())
	if err == nil && result.Class == proc.Exited && result.Exit == refusedStart {
		err = fmt.Errorf("starting a container of %s: %s", r.job.Image, said)
	}
	r.ended <- ended{how(result), said, err}
}

// arguments are those of the engine's client that runs a job.
func (c *Containers) arguments(name, sockets string, job Job) ([]string, error) {
	args := append([]string{"run", "--rm", "--name", name, "--label", jobLabel + "=" + job.Order.Job}, c.fence()...)
	if c.Network != "" {
		args = append(args, "--network", c.Network)
	}
	mounts := [][2]string{{c.Program, programAt}, {sockets, socketsAt}}
	if job.Order.Mirror != "" {
		mounts = append(mounts, [2]string{job.Order.Mirror, mirrorAt})
	}
	for _, m := range mounts {
		if strings.ContainsAny(m[0], ",\"\n") {
			return nil, fmt.Errorf("mounting %q in a container: its name has a comma, a quote or the end of a line in it; "+
				"rename it", m[0])
		}
		args = append(args, "--mount", "type=bind,source="+m[0]+",target="+m[1]+",readonly")
	}
	args = append(args, "--mount", "type=volume,target="+workAt, "--tmpfs", "/tmp:rw,exec,mode=1777",
		"--tmpfs", "/root:rw,mode=0700", "--env", "HOME=/root", "--workdir", "/")
	for _, variable := range proxies {
		if proc.Value(c.Environ, variable) != "" {
			args = append(args, "--env", variable) // by name alone: it may hold a password
		}
	}
	return append(args, "--entrypoint", programAt, job.Image, "work", "--socket", socketsAt+"/"+jobSocket), nil
}

// fence is what every container of ours is kept by, also one that only tries an image.
func (c *Containers) fence() []string {
	args := []string{"--label", serverLabel + "=" + c.Server, "--read-only", "--user", "0:0", "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges", "--pids-limit", strconv.Itoa(cmp.Or(c.Limits.Processes, mostProcesses))}
	for _, right := range rights {
		args = append(args, "--cap-add", right)
	}
	if memory := cmp.Or(c.Limits.Memory, proc.Memory()/10*9); memory > 0 {
		args = append(args, "--memory", strconv.FormatInt(memory, 10))
	}
	return args
}

// proxies lead to GitHub where nothing else does.
var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}

// ofClient are variables that the engine's client needs as they are here.
var ofClient = []string{"HOME", "PATH", "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_CERT_PATH",
	"DOCKER_TLS_VERIFY", "CONTAINER_HOST", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}

// client is the environment of the engine's client.
func (c *Containers) client() []string {
	return proc.Environment(c.Environ, slices.Concat(ofClient, proxies))
}

// removeTime is how long an engine may take to end a container.
const removeTime = 30 * time.Second

// remove ends containers with all that they have; one that is not there is none to end.
func (c *Containers) remove(engine string, names ...string) error {
	_, err := c.ask(context.Background(), removeTime, engine, append([]string{"rm", "--force", "--volumes"}, names...)...)
	if err != nil && !strings.Contains(strings.ToLower(err.Error()), "no such container") {
		return fmt.Errorf("removing the container of a job: %w; `%s rm --force %s` does it", err, engine,
			strings.Join(names, " "))
	}
	return nil
}

// Sweep removes the containers that a server before us has left. It does so once; who starts one waits for it.
func (c *Containers) Sweep() {
	c.swept.Do(func() {
		for _, engine := range c.engines() {
			out, err := c.ask(context.Background(), removeTime, engine, "ps", "--all", "--quiet", "--filter",
				"label="+serverLabel+"="+c.Server)
			left := strings.Fields(out)
			if err == nil && len(left) > 0 {
				err = c.remove(engine, left...)
			}
			if err != nil && c.Log != nil {
				c.Log("looking for containers that were left: %v", err)
			}
		}
		if err := errors.Join(os.RemoveAll(c.Sockets), os.MkdirAll(c.Sockets, 0o700)); err != nil && c.Log != nil {
			c.Log("making a place for the sockets of containers: %v", err)
		}
	})
}
