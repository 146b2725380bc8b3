package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/session"
)

// Init asks a person for the settings of a repository and writes them.
type Init struct {
	Env    config.Environment
	Parent []string
	Dir    string    // the current directory
	In     io.Reader // a terminal
	Out    io.Writer
}

// schemaURL is where an editor finds the schema.
const schemaURL = "https://raw.githubusercontent.com/ralph-loop/ralph/main/internal/config/settings.schema.json"

// Run shows what there is, asks, and writes everything at once after the last answer.
func (i *Init) Run(ctx context.Context) error {
	dir := session.Top(ctx, i.Dir, i.Parent)
	d := session.NewDialogue(i.In, i.Out)
	if there, err := i.show(d, dir); err != nil || there && !d.Yes(ctx, "Overwrite? (y/N): ") {
		return errors.Join(err, d.Err)
	}
	d.Say("")
	answers := ask(ctx, d)
	if d.Err != nil {
		return d.Err
	}
	text, err := config.Indented(answers)
	if err != nil {
		return err
	}
	if _, err := config.Load(config.Layer{Name: "what was answered", JSON: text}); err != nil {
		return err
	}
	if err := session.SaveSettings(filepath.Join(dir, config.SettingsFile), text); err != nil {
		return err
	}
	d.Say("")
	d.Say("Settings written to " + i.name(dir))
	return nil
}

// name is the settings file as the user would name it from here.
func (i *Init) name(dir string) string {
	file := filepath.Join(dir, config.SettingsFile)
	if relative, err := filepath.Rel(i.Dir, file); err == nil {
		return filepath.ToSlash(relative)
	}
	return file
}

// show prints the settings that are there already, and says whether there are any to overwrite.
func (i *Init) show(d *session.Dialogue, dir string) (bool, error) {
	layers, err := session.SettingsFiles(dir, nil) // what is the user's own is not for the repository's file
	if err != nil {
		return false, err
	}
	explained, err := config.Explain(layers...)
	if err != nil {
		return false, fmt.Errorf("%w\nMend it or move it away, then run ralph init again", err)
	}
	if len(layers) == 0 || layers[0].Name != config.SettingsFile {
		return false, nil
	}
	text, err := explained.Plain(report.Redactor(i.Env.Secrets()))
	if err != nil {
		return false, err
	}
	from := "Loaded from " + config.SettingsFile
	if len(layers) > 1 {
		from += " (with local overlay from " + filepath.Base(config.LocalSettingsFile) + ")"
	}
	d.Say(strings.TrimSpace(string(text)))
	d.Say(from)
	return true, nil
}

// written are the settings that init writes, in the order of the file.
type written struct {
	Schema              string             `json:"$schema"`
	MaximumIterations   int                `json:"maximumIterations"`
	CompletionResponse  string             `json:"completionResponse"`
	OutputTruncateChars int                `json:"outputTruncateChars"`
	StreamAgentOutput   bool               `json:"streamAgentOutput"`
	Agent               config.Command     `json:"agent"`
	Guardrails          []config.Guardrail `json:"guardrails,omitempty"` // without any they are detected
	SCM                 *config.SCM        `json:"scm,omitempty"`
}

// ask goes through the questions in their order.
func ask(ctx context.Context, d *session.Dialogue) written {
	defaults := config.Defaults()
	w := written{Schema: schemaURL, OutputTruncateChars: defaults.OutputTruncateChars,
		StreamAgentOutput: defaults.StreamAgentOutput}
	w.Agent.Command = d.Until(ctx, "Agent command (e.g., claude, codex, amp, or other LLM CLI): ",
		func(answer string) (string, string) {
			if answer == "" {
				return "", "An agent command is needed."
			}
			return answer, ""
		})
	w.Agent.Flags = list(d.Ask(ctx, "Agent flags (comma-separated, optional): "))
	most := d.Until(ctx, fmt.Sprintf("Maximum iterations [%d]: ", config.PromptIterations), iterations)
	w.MaximumIterations, _ = strconv.Atoi(most)
	w.CompletionResponse = d.Until(ctx, "Completion response ["+defaults.CompletionResponse+"]: ",
		func(answer string) (string, string) {
			if len([]rune(answer)) > 200 {
				return "", "A completion response has at most 200 characters."
			}
			return otherwise(answer, defaults.CompletionResponse), ""
		})
	w.Guardrails = askGuardrails(ctx, d)
	w.SCM = askSCM(ctx, d)
	return w
}

func iterations(answer string) (string, string) {
	answer = otherwise(answer, strconv.Itoa(config.PromptIterations))
	if n, err := strconv.Atoi(answer); err != nil || n < 1 || n > 1000 {
		return "", "Maximum iterations is a whole number from 1 to 1000."
	}
	return answer, ""
}

// mostGuardrails are as many as the schema takes.
const mostGuardrails = 50

func askGuardrails(ctx context.Context, d *session.Dialogue) (guardrails []config.Guardrail) {
	for d.Err == nil {
		if len(guardrails) == mostGuardrails {
			d.Say(fmt.Sprintf("%d guardrails are the most.", mostGuardrails))
			break
		}
		command := d.Ask(ctx, "Add guardrail command (leave blank to finish): ")
		if command == "" {
			break
		}
		guardrails = append(guardrails, config.Guardrail{
			Command:    command,
			FailAction: d.Until(ctx, "  Fail action (APPEND|PREPEND|REPLACE): ", failAction),
			Hint:       d.Ask(ctx, "  Hint (optional, guidance for agent on failure): "),
		})
	}
	return guardrails
}

func failAction(answer string) (string, string) {
	switch answer = otherwise(strings.ToUpper(answer), config.Append); answer {
	case config.Append, config.Prepend, config.Replace:
		return answer, ""
	}
	return "", "  A fail action is APPEND, PREPEND or REPLACE; blank means APPEND."
}

// askSCM returns nil when there is nothing to run.
func askSCM(ctx context.Context, d *session.Dialogue) *config.SCM {
	if !d.Yes(ctx, "Configure SCM? (y/N): ") {
		return nil
	}
	command := d.Ask(ctx, "  SCM command (e.g., git): ")
	if command == "" && d.Err == nil {
		d.Say("  No SCM command: SCM is not configured.")
		return nil
	}
	return &config.SCM{Command: command, Tasks: list(d.Ask(ctx, "  SCM tasks (comma-separated, e.g., commit,push): "))}
}

// list splits at commas and leaves out what is blank.
func list(answer string) []string {
	var parts []string
	for _, part := range strings.Split(answer, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

func otherwise(answer, blank string) string {
	if answer == "" {
		return blank
	}
	return answer
}
