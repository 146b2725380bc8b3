package fake

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/fake/count"
)

// refs reads the references of a bare repository without a process.
func (r *repo) refs() map[string]string {
	all := map[string]string{}
	if packed, err := os.ReadFile(filepath.Join(r.gitDir, "packed-refs")); err == nil {
		for line := range strings.Lines(string(packed)) {
			if sha, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && isSHA(sha) {
				all[name] = sha
			}
		}
	}
	_ = filepath.WalkDir(filepath.Join(r.gitDir, "refs"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // a reference that is deleted meanwhile takes its directory with it
		}
		text, err := os.ReadFile(path)
		if sha := strings.TrimSpace(string(text)); err == nil && isSHA(sha) && !strings.HasSuffix(path, ".lock") {
			name, _ := filepath.Rel(r.gitDir, path) // it is below
			all[filepath.ToSlash(name)] = sha
		}
		return nil
	})
	return all
}

// ref is what a full reference points to, empty if it does not exist.
func (r *repo) ref(name string) string {
	if !filepath.IsLocal(name) || !strings.HasPrefix(name, "refs/") {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(r.gitDir, filepath.FromSlash(name)))
	if sha := strings.TrimSpace(string(text)); err == nil && isSHA(sha) {
		return sha
	}
	return r.refs()[name]
}

// packet is a line of git's protocol, of which flush ends a list.
func packet(line string) string { return fmt.Sprintf("%04x%s", len(line)+4, line) }

const flush = "0000"

// advertise answers a client's first request: what the service can do and, for a push, the references.
func (g *GitHub) advertise(w http.ResponseWriter, r *http.Request, found *repo) {
	service := strings.TrimPrefix(r.URL.Query().Get("service"), "git-")
	if service != "upload-pack" && service != "receive-pack" {
		g.problem("%s %s: git's protocol without a service", r.Method, r.URL.Path)
		http.Error(w, "Please upgrade your git client.", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/x-git-"+service+"-advertisement")
	if service == "upload-pack" && !protocol2(r) {
		_, _ = w.Write(advertisement(found, service, ""))
		return
	}
	if service == "upload-pack" {
		_, _ = w.Write(abilities(found, service))
		return
	}
	refs := found.refs()
	names := slices.Sorted(maps.Keys(refs))
	if len(names) == 0 {
		names, refs = []string{"capabilities^{}"}, map[string]string{"capabilities^{}": strings.Repeat("0", 40)}
	}
	answer := packet("# service=git-receive-pack\n") + flush
	for i, name := range names {
		if i == 0 {
			answer += packet(refs[name] + " " + name + "\x00" + string(abilities(found, service)) + "\n")
			continue
		}
		answer += packet(refs[name] + " " + name + "\n")
	}
	_, _ = w.Write([]byte(answer + flush))
}

func protocol2(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Git-Protocol"), "version=2")
}

var able sync.Map

// abilities is what this machine's git can do as a service, which is the same for every repository here: its whole
// answer in version 2 of the protocol or, for a push, the list behind the first reference.
func abilities(of *repo, service string) []byte {
	if known, ok := able.Load(service); ok {
		return known.([]byte)
	}
	answer := advertisement(of, service, "version=2")
	if service == "receive-pack" {
		_, answer, _ = bytes.Cut(answer, []byte{0})
		answer, _, _ = bytes.Cut(answer, []byte("\n"))
	}
	if len(answer) > 0 {
		able.Store(service, answer)
	}
	return answer
}

// advertisement is what git itself answers.
func advertisement(of *repo, service, protocol string) []byte {
	count.Add()
	cmd := exec.Command("git", service, "--http-backend-info-refs", of.gitDir)
	cmd.Env = append(gitEnv(), "GIT_PROTOCOL="+protocol)
	out, _ := cmd.Output() // a client that gets nothing says so
	if protocol == "" {
		out = append([]byte(packet("# service=git-"+service+"\n")+flush), out...)
	}
	return out
}

// lsRefs answers the command ls-refs of version 2. It returns false for what only git can: references of tags, which
// can be objects of their own, and requests that it does not understand.
func (r *repo) lsRefs(request []byte) (string, bool) {
	var prefixes []string
	asked := map[string]bool{}
	for len(request) >= 4 {
		n, err := strconv.ParseUint(string(request[:4]), 16, 16)
		if err != nil || int(n) > len(request) {
			return "", false
		}
		if n < 4 {
			request = request[4:]
			continue
		}
		line := strings.TrimSuffix(string(request[4:n]), "\n")
		request = request[n:]
		if prefix, ok := strings.CutPrefix(line, "ref-prefix "); ok {
			prefixes = append(prefixes, prefix)
		}
		asked[line] = true
	}
	if !asked["command=ls-refs"] {
		return "", false
	}
	wants := func(name string) bool {
		return prefixes == nil || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	refs, answer := r.refs(), ""
	if head, err := os.ReadFile(filepath.Join(r.gitDir, "HEAD")); err != nil {
		return "", false
	} else if target, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: "); !ok {
		return "", false
	} else if wants("HEAD") {
		line, symbolic := refs[target]+" HEAD", ""
		if asked["symrefs"] {
			symbolic = " symref-target:" + target
		}
		if refs[target] == "" {
			line = "unborn HEAD"
		}
		if refs[target] != "" || asked["unborn"] {
			answer += packet(line + symbolic + "\n")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if !wants(name) {
			continue
		}
		if strings.HasPrefix(name, "refs/tags/") && asked["peel"] {
			return "", false
		}
		answer += packet(refs[name] + " " + name + "\n")
	}
	return answer + flush, true
}
