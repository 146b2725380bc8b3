package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/session"
)

// Init asks a person for the settings of a repository and writes them.
type Init struct {
	session.Session
	In    io.Reader // a terminal
	Given Given     // instead of what is found
	// Yes asks no one, and writes what was found. Overwrite replaces settings that exist without a question.
	Yes, Overwrite bool
}

// Run shows what there is and what was found here, has that agreed to or changed, and writes everything at once after
// the last answer.
func (i *Init) Run(ctx context.Context) error {
	dir := session.Top(i.Dir)
	d := session.NewDialogue(i.In, i.Out)
	if there, err := i.show(d, dir); err != nil || there && !i.replaces(ctx, d) {
		return errors.Join(err, d.Err)
	}
	found := lookAround(ctx, dir, i.Parent, i.Given)
	answers, ok, err := i.agree(ctx, d, dir, &found)
	if err := errors.Join(err, d.Err); err != nil || !ok {
		return err
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

// replaces reports whether settings that exist may be replaced. No one to ask is a no, which is an error.
func (i *Init) replaces(ctx context.Context, d *session.Dialogue) bool {
	switch {
	case i.Overwrite:
		return true
	case !i.Yes:
		return d.Yes(ctx, "Overwrite? (y/N): ")
	}
	d.Err = invalid.Errorf("%s already exists; pass --overwrite to replace it, or change one setting with ralph "+
		"settings set", config.SettingsFile)
	return false
}

// agree returns the settings to write, or false to write nothing.
func (i *Init) agree(ctx context.Context, d *session.Dialogue, dir string, found *suggestion) (written, bool, error) {
	d.Say("")
	if i.Yes {
		return i.take(d, dir, found)
	}
	if !found.nothing() {
		found.print(d)
		d.Say("")
	}
	if !found.enough() {
		return ask(ctx, d, found), true, nil
	}
	w := found.settings()
	if err := i.preview(d, dir, found, w); err != nil {
		return w, false, err
	}
	switch d.Until(ctx, "Write this? (Y/n/e to edit): ", agreement) {
	case "e":
		d.Say("")
		return ask(ctx, d, found), true, nil
	case "n":
		d.Say("Nothing is written.")
		return w, false, nil
	}
	return w, d.Err == nil, nil
}

// take accepts the suggestion where there is no one to ask.
func (i *Init) take(d *session.Dialogue, dir string, found *suggestion) (written, bool, error) {
	if found.agent.Name == "" {
		return written{}, false, invalid.Errorf(
			"no agent is installed that ralph knows (%s); install one, or name yours with --agent", strings.Join(agent.Names(), ", "))
	}
	found.print(d)
	d.Say("")
	w := found.settings()
	if !found.enough() {
		d.Say("warning: no checks, so nothing but the agent's word will say that a run is done; name some with --check")
	}
	return w, true, i.preview(d, dir, found, w)
}

// preview prints the file as it would be.
func (i *Init) preview(d *session.Dialogue, dir string, found *suggestion, w written) error {
	text, err := config.Indented(w)
	if err != nil {
		return err
	}
	d.Say(i.name(dir) + ":")
	d.Say(strings.TrimSpace(string(text)))
	if found.leaves() && len(found.found.Checks) > 0 {
		d.Say("The checks are not in it: a run finds them itself, and fits them to where it runs.")
	}
	return nil
}

func agreement(answer string) (string, string) {
	switch answer = strings.ToLower(answer); answer {
	case "", "y", "yes":
		return "y", ""
	case "n", "no", "e", "edit":
		return answer[:1], ""
	}
	return "", "Enter or y writes it, n writes nothing, e asks for each of the settings."
}

// name is the settings file as the user would name it from here.
func (i *Init) name(dir string) string {
	file := filepath.Join(dir, config.SettingsFile)
	if relative, err := filepath.Rel(i.Dir, file); err == nil {
		return filepath.ToSlash(relative)
	}
	return file
}

// show prints the settings that exist already, and says whether there are any to overwrite.
func (i *Init) show(d *session.Dialogue, dir string) (bool, error) {
	layers, err := session.SettingsFiles(dir, nil) // what is the user's own is not for the repository's file
	if err != nil {
		return false, err
	}
	explained, err := config.Explain(layers...)
	if err != nil {
		return false, fmt.Errorf("%w\nFix it or move it away, then run ralph init again", err)
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
	if i.Yes { // no one reads it before it is decided
		return true, nil
	}
	d.Say(strings.TrimSpace(string(text)))
	d.Say(from)
	return true, nil
}

// ask goes through the questions in their order. What was found is the answer of who only presses Enter.
func ask(ctx context.Context, d *session.Dialogue, found *suggestion) written {
	defaults := config.Defaults()
	w := written{Schema: schemaURL, OutputTruncateChars: defaults.OutputTruncateChars,
		StreamAgentOutput: defaults.StreamAgentOutput}
	const which = "Agent command (e.g., claude, codex, amp, or other LLM CLI)"
	w.Agent.Command = d.Until(ctx, which+suggested(found.agent.Name)+": ", func(answer string) (string, string) {
		if answer = cmp.Or(answer, found.agent.Name); answer == "" {
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
			return cmp.Or(answer, defaults.CompletionResponse), ""
		})
	w.Guardrails = askGuardrails(ctx, d, keep(ctx, d, found.guardrails()))
	if line := found.setup(); line != "" {
		w.Setup = cmp.Or(d.Ask(ctx, `Setup command ("none" for none)`+suggested(line)+": "), line)
		if strings.EqualFold(w.Setup, "none") {
			w.Setup = ""
		}
	}
	w.SCM = askSCM(ctx, d)
	return w
}

func iterations(answer string) (string, string) {
	answer = cmp.Or(answer, strconv.Itoa(config.PromptIterations))
	if n, err := strconv.Atoi(answer); err != nil || n < 1 || n > 1000 {
		return "", "Maximum iterations is a whole number from 1 to 1000."
	}
	return answer, ""
}

// mostGuardrails are as many as the schema takes.
const mostGuardrails = 50

// suggested is an answer as it is behind a question.
func suggested(answer string) string {
	if answer == "" {
		return ""
	}
	return " [" + answer + "]"
}

// keep asks whether the checks that were found are taken.
func keep(ctx context.Context, d *session.Dialogue, found []config.Guardrail) []config.Guardrail {
	if len(found) == 0 || d.Err != nil {
		return nil
	}
	d.Say("Guardrails found here:")
	for _, g := range found {
		d.Say("  " + g.Command)
	}
	kept := d.Until(ctx, "Keep them? (Y/n): ", func(answer string) (string, string) {
		if answer, wrong := agreement(answer); wrong == "" && answer != "e" {
			return answer, ""
		}
		return "", "Enter or y keeps them, n begins without any."
	})
	if kept == "n" {
		return nil
	}
	return found
}

func askGuardrails(
	ctx context.Context, d *session.Dialogue, guardrails []config.Guardrail,
) []config.Guardrail {
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
	switch answer = cmp.Or(strings.ToUpper(answer), config.Append); answer {
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
