package main

import (
	"cmp"
	"context"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/session"
)

type settingsCommand struct {
	Show   settingsShow   `cmd:"" help:"Print what the settings files add up to, and where each value comes from. Secrets are left out."`
	Set    settingsSet    `cmd:"" help:"Write a setting into .ralph/settings.json, or with --user your own."`
	Unset  settingsUnset  `cmd:"" help:"Take a setting out of .ralph/settings.json, or with --user your own."`
	Schema settingsSchema `cmd:"" help:"Print the JSON schema of a settings file."`
}

type settingsShow struct {
	JSON bool `name:"json" help:"Print JSON for programs: {\"settings\": {…}, \"from\": {\"agent.command\": \"…\"}}."`
}

// Run implements ralph settings show.
func (c *settingsShow) Run(ctx context.Context, s session.Session) error {
	return invalid.Mark(s.ShowSettings(ctx, c.JSON))
}

type settingsSet struct {
	Key   string  `arg:"" help:"The setting, such as agent.model."`
	Value *string `arg:"" optional:"" help:"A text as it is, a number, true or false; a list in JSON or as words; an object in JSON."`
	From  string  `placeholder:"FILE" help:"Read the value from a file, such as a newer list of prices."`
	User  bool    `help:"Write your own settings, which hold in every clone, below the repository's."`
}

// Run implements ralph settings set.
func (c *settingsSet) Run(ctx context.Context, s session.Session) error {
	if (c.Value == nil) == (c.From == "") {
		return invalid.Errorf("settings set needs a VALUE or --from FILE; pass one of them")
	}
	changed := session.Change{Key: c.Key, Value: *cmp.Or(c.Value, new("")), From: c.From, User: c.User}
	return invalid.Mark(s.ChangeSettings(ctx, changed))
}

type settingsUnset struct {
	Key  string `arg:"" help:"The setting, such as agent.model."`
	User bool   `help:"Take it out of your own settings."`
}

// Run implements ralph settings unset.
func (c *settingsUnset) Run(ctx context.Context, s session.Session) error {
	return invalid.Mark(s.ChangeSettings(ctx, session.Change{Key: c.Key, Unset: true, User: c.User}))
}

type settingsSchema struct{}

// Run implements ralph settings schema.
func (settingsSchema) Run(p process) error {
	schema, err := config.Schema()
	if err == nil {
		_, err = p.out.Write(schema)
	}
	return err
}
