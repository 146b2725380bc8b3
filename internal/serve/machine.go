package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/web"
)

// machine is what the doctor says of this server: whether it runs containers, and what waits for other versions.
func (sv *Server) machine(ctx context.Context) (list []web.Finding) {
	if sv.o.plays(RoleWork) {
		list = append(list, sv.engine(ctx)...)
	}
	var note noteError
	switch err := sv.otherVersions(ctx); {
	case errors.As(err, &note):
		list = append(list, web.Finding{Level: "warning", What: safetext.OneLine(err.Error())})
	case err != nil:
		list = append(list, wrong(err))
	default:
		list = append(list, web.Finding{Level: "ok", What: "no job waits for another version of ralph"})
	}
	return list
}

// engine reports whether containers can be run. An engine that is missing or does not answer is reported only if an
// allowance names containers. A repository whose settings ask for one has it on its own page.
func (sv *Server) engine(ctx context.Context) []web.Finding {
	name, err := sv.worker.containers.Engine(ctx)
	switch {
	case err == nil:
		return []web.Finding{{Level: "ok", What: "dispatch: container can be used: " + name + " answers"}}
	case sv.o.Allow.Name(config.InContainer):
		return []web.Finding{wrong(err)}
	}
	return nil
}

// fit says whether a repository's runs can have the container that its settings ask for.
func (sv *Server) fit(ctx context.Context, s config.Settings) web.Finding {
	if !sv.worker.containers.Here(ctx, s.Image) {
		return web.Finding{Level: "ok", What: fmt.Sprintf("container: the image %s is not here yet; the first run pulls it",
			s.Image)}
	}
	if err := sv.worker.containers.Ready(ctx, s.Image, needed(s)...); err != nil {
		return wrong(err)
	}
	return web.Finding{Level: "ok", What: fmt.Sprintf("container: the image %s runs here", s.Image)}
}
