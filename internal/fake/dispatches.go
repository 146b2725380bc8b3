package fake

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Dispatched is a workflow that was started by REST.
type Dispatched struct {
	Workflow string // "ralph.yml"
	Ref      string // "main"
	Inputs   map[string]string
	Sender   string // login of whose token it was
}

// Dispatches are the workflows of a repository that were started, the oldest first.
func (g *GitHub) Dispatches(owner, name string) []Dispatched {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.mustRepo(owner, name).dispatches)
}

// OnDispatch has someone hear of each workflow that is started, as a runner does.
func (g *GitHub) OnDispatch(started func(owner, name string, d Dispatched)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.started = started
}

// dispatchWorkflow answers as GitHub does: the file must be there on the ref, must have the trigger, and must declare
// each input.
func (g *GitHub) dispatchWorkflow(r *request) answer {
	var in struct {
		Ref    string
		Inputs map[string]string
	}
	if bad := r.decode(&in); bad != nil {
		return *bad
	}
	file := r.parts["workflow"]
	text := g.read(r.repo, "show", r.repo.defaultBranch+":.github/workflows/"+file)
	branch := strings.TrimPrefix(in.Ref, "refs/heads/")
	switch {
	case text == "":
		return notFound()
	case g.branchSHA(r.repo, branch) == "":
		return unprocessable("No ref found for: " + in.Ref)
	}
	declared, ok := dispatchInputs(text)
	if !ok {
		return unprocessable("Workflow does not have 'workflow_dispatch' trigger")
	}
	var odd []string
	for _, name := range slices.Sorted(maps.Keys(in.Inputs)) {
		if !slices.Contains(declared, name) {
			odd = append(odd, fmt.Sprintf("%q", name))
		}
	}
	if odd != nil {
		return unprocessable("Unexpected inputs provided: [" + strings.Join(odd, ", ") + "]")
	}
	d := Dispatched{file, branch, in.Inputs, r.token.login}
	r.repo.dispatches = append(r.repo.dispatches, d)
	if g.started != nil {
		go g.started(r.repo.owner, r.repo.name, d)
	}
	return answer{status: http.StatusNoContent}
}

// dispatchInputs are the inputs that a workflow file declares for workflow_dispatch; ok is false without that trigger.
func dispatchInputs(text string) (names []string, ok bool) {
	var file struct{ On any }
	if yaml.Unmarshal([]byte(text), &file) != nil {
		return nil, false
	}
	switch on := file.On.(type) {
	case string:
		return nil, on == "workflow_dispatch"
	case []any:
		return nil, slices.Contains(on, any("workflow_dispatch"))
	case map[string]any:
		trigger, there := on["workflow_dispatch"]
		if keys, is := trigger.(map[string]any); is {
			inputs, _ := keys["inputs"].(map[string]any)
			names = slices.Collect(maps.Keys(inputs))
		}
		return names, there
	}
	return nil, false
}
