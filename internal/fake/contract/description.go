// Package contract holds a test's GitHub calls against GitHub's own description of its API: requests and answers, in
// both directions.
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// source is a published module that carries GitHub's description (MIT, of about 2021) among its test data. It is not a
// dependency: only the file is read, from the module cache. Unlike GitHub's own package of the description it fits one
// download of a few megabytes and has kept the bodies that are arrays.
const (
	source     = "github.com/ogen-go/ogen@v1.14.0"
	sourceFile = "_testdata/examples/api.github.com.json"
)

// base is where the description's paths begin on a GitHub Enterprise server.
const base = "/api/v3"

var load = sync.OnceValues(func() (routers.Router, error) {
	raw, err := description()
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, fmt.Errorf("reading GitHub's API description: %w", err)
	}
	if err := amend(doc); err != nil {
		return nil, err
	}
	doc.Servers = openapi3.Servers{{URL: base}}
	doc.Paths = slashed(doc.Paths)
	// The document is not validated on purpose: it has paths that the validation takes for conflicts.
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("routing by GitHub's API description: %w", err)
	}
	return router, nil
})

// description downloads the module, or finds it in the module cache, and reads the file.
func description() ([]byte, error) {
	cmd := exec.Command("go", "mod", "download", "-json", source)
	cmd.Dir = os.TempDir() // outside any module: no one's go.mod and go.sum are touched
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	var module struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &module); err == nil {
		err = jsonErr
	}
	if err != nil {
		return nil, fmt.Errorf("fetching GitHub's API description from %s: %w: %s%s", source, err, module.Error,
			problems.String())
	}
	raw, err := os.ReadFile(filepath.Join(module.Dir, filepath.FromSlash(sourceFile)))
	if err != nil {
		return nil, fmt.Errorf("reading GitHub's API description: %w", err)
	}
	return raw, nil
}

// nullable are fields, by schema, that the description takes for never null, and GitHub answers with null: an issue
// without text in a list, a comment on a line that is no longer there, a status without a link.
var nullable = map[string][]string{
	"issue-simple":                {"body"},
	"pull-request-review-comment": {"position", "line"},
	"review-comment":              {"line"},
	"simple-commit-status":        {"target_url"},
	"status":                      {"target_url", "description"},
}

// amend corrects what the description says wrongly of GitHub, and lets answers leave out fields: a double answers with
// those that ralph reads. Schemas of components are those of answers; those of requests are with their operations.
func amend(doc *openapi3.T) error {
	for name, fields := range nullable {
		schema := doc.Components.Schemas[name]
		for _, field := range fields {
			if schema == nil || schema.Value.Properties[field] == nil {
				return fmt.Errorf("amending GitHub's API description: %s has no %s", name, field)
			}
			schema.Value.Properties[field].Value.Nullable = true
		}
	}
	seen := map[*openapi3.Schema]bool{}
	for _, schema := range doc.Components.Schemas {
		allowMissing(schema, seen)
	}
	for _, path := range doc.Paths.Map() {
		for _, operation := range path.Operations() {
			for _, response := range operation.Responses.Map() {
				for _, media := range response.Value.Content {
					allowMissing(media.Schema, seen)
				}
			}
		}
	}
	return nil
}

// allowMissing makes no field of a schema, nor of those below it, required.
func allowMissing(ref *openapi3.SchemaRef, seen map[*openapi3.Schema]bool) {
	if ref == nil || seen[ref.Value] {
		return
	}
	s := ref.Value
	seen[s], s.Required = true, nil
	// of several schemas that an answer must match, more than one may match without required fields
	s.AnyOf, s.OneOf = append(s.AnyOf, s.OneOf...), nil
	for _, part := range slices.Concat(slices.Collect(maps.Values(s.Properties)), s.AnyOf, s.AllOf,
		[]*openapi3.SchemaRef{s.Items, s.AdditionalProperties.Schema}) {
		allowMissing(part, seen)
	}
}

// slashed lets the last parameter of a path hold slashes where GitHub's may.
func slashed(paths *openapi3.Paths) *openapi3.Paths {
	out := openapi3.NewPaths()
	for path, item := range paths.Map() {
		for _, name := range []string{"path", "ref", "branch", "basehead"} {
			path = strings.Replace(path, "{"+name+"}", "{"+name+":.+}", 1)
		}
		out.Set(path, item)
	}
	return out
}
