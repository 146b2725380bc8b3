package notify

import (
	"errors"
	"net/url"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/discord"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/slack"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/teams"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/telegram"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/email/smtp"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

// named is the service of a scheme, not set up yet; nil: there is none. All services of the library would make the
// binary half a megabyte larger: these are the ones that docs/notify.md names.
func named(scheme string) types.Service {
	switch scheme {
	case "discord":
		return &discord.Service{}
	case "ntfy":
		return &ntfy.Service{}
	case "slack":
		return &slack.Service{}
	case "smtp":
		return &smtp.Service{}
	case "teams":
		return &teams.Service{}
	case "telegram":
		return &telegram.Service{}
	}
	return nil
}

// reach is the service of an address such as slack://…, ready to send. Its errors may show parts of the address.
func reach(address string) (types.Service, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	service := named(u.Scheme)
	if service == nil {
		return nil, errors.New("no service has this name")
	}
	return service, service.Initialize(u, nil)
}
