package sandbox

import "context"

func (s *Sandbox) openContainer(context.Context) error {
	return &UnavailableError{"it is not there yet"}
}
func (s *Sandbox) openDockerSandbox(context.Context) error {
	return &UnavailableError{"it is not there yet"}
}
