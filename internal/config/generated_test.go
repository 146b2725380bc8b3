package config

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false,
	"write what is made from the tables: the schema, the action files, and tables of docs")

// TestGeneratedFiles: what is made from the tables of settings, inputs and outputs is as they are.
func TestGeneratedFiles(t *testing.T) {
	for file, write := range map[string]func(*testing.T, string) string{
		"settings.schema.json":   schemaFile,
		"../../action.yml":       func(_ *testing.T, old string) string { return actionYML(old, false) },
		"../../host/action.yml":  func(_ *testing.T, old string) string { return actionYML(old, true) },
		"../../docs/settings.md": settingsPage,
		"../../docs/action.md":   actionPage,
	} {
		old, err := os.ReadFile(file)
		noError(t, err)
		text := write(t, string(old))
		if text == string(old) {
			continue
		}
		if !*update {
			t.Errorf("%s is not what the tables say; write it with: go test ./internal/config -run Generated -update", file)
			continue
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // not a secret
			t.Fatal(err)
		}
	}
}

func schemaFile(t *testing.T, _ string) string {
	text, err := Schema()
	noError(t, err)
	return string(text)
}

var (
	inputsBlock  = regexp.MustCompile(`(?ms)^inputs:\n.*?^outputs:\n.*?^runs:\n`)
	ownInputs    = regexp.MustCompile(`(?m)^  ralph_path:\n(?:  .*\n)+`)
	passedInputs = regexp.MustCompile(`(?m)^        INPUT_(?:.*\n        INPUT_)*.*\n`)
)

// actionYML puts the inputs and outputs into an action file. On the host, outputs are those of a step, inputs are
// handed to it, and inputs of its own come last.
func actionYML(old string, host bool) string {
	var b, passed strings.Builder
	b.WriteString("inputs:\n")
	for _, row := range InputTable() {
		fmt.Fprintf(&b, "  %s:\n    description: %s\n", row.Name, yamlText(row.Description))
		if row.Default != "" {
			fmt.Fprintf(&b, "    default: %s\n", yamlText(row.Default))
		}
		fmt.Fprintf(&passed, "        %s: ${{ inputs.%s }}\n", row.Env(), row.Name)
	}
	if host {
		b.WriteString(ownInputs.FindString(old))
	}
	b.WriteString("outputs:\n")
	for _, row := range OutputTable {
		fmt.Fprintf(&b, "  %s:\n    description: %s\n", row.Name, yamlText(row.Description))
		if host {
			fmt.Fprintf(&b, "    value: ${{ steps.run.outputs.%s }}\n", row.Name)
		}
	}
	b.WriteString("runs:\n")
	text := inputsBlock.ReplaceAllLiteralString(old, b.String())
	return passedInputs.ReplaceAllLiteralString(text, passed.String())
}

func yamlText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func settingsPage(t *testing.T, old string) string {
	return replaceTable(t, old, "| key | default | meaning |", settingRows(t, "", Table()))
}

func settingRows(t *testing.T, above string, rows []Setting) (lines []string) {
	for _, row := range rows {
		meaning := row.Summary
		if row.Where != "" {
			meaning = row.Where + ". " + meaning
		}
		if row.Kind == Integer || row.Kind == Number {
			meaning += fmt.Sprintf(" From %s to %s.", number(row.Min), number(row.Max))
		}
		if slices.ContainsFunc(row.Choices,
			func(choice string) bool { return !strings.Contains(meaning+row.Details, "`"+choice+"`") }) {
			meaning += " One of `" + strings.Join(row.Choices, "`, `") + "`."
		}
		if row.Kind == List && row.MaxLen > 0 {
			meaning += fmt.Sprintf(" At most %d.", row.MaxLen)
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("| `%s` | %s | %s %s", above+row.Key, shownDefault(t, row),
			meaning, row.Details))+" |")
		lines = append(lines, settingRows(t, above+row.Key+".", row.Keys)...)
		if row.Entry != nil {
			lines = append(lines, settingRows(t, above+row.Key+"[].", row.Entry.Keys)...)
		}
	}
	return lines
}

func shownDefault(t *testing.T, row Setting) string {
	if row.NoValue != "" || row.Default == nil {
		return row.NoValue
	}
	text, err := json.Marshal(row.Default)
	noError(t, err)
	return "`" + string(text) + "`"
}

func actionPage(t *testing.T, old string) string {
	var inputs, outputs []string
	for _, row := range InputTable() {
		description := row.Description
		if row.secret {
			description += " A secret."
		}
		if row.Key != "" {
			description += fmt.Sprintf(" Sets [`%s`](settings.md#every-key).", row.Key)
		}
		with := ""
		if row.Default != "" {
			with = "`" + row.Default + "`"
		}
		inputs = append(inputs, fmt.Sprintf("| `%s` | %s | %s |", row.Name, with, description))
	}
	for _, row := range OutputTable {
		outputs = append(outputs, fmt.Sprintf("| `%s` | %s |", row.Name, row.Description))
	}
	text := replaceTable(t, old, "| input | default | description |", inputs)
	return replaceTable(t, text, "| output | description |", outputs)
}

// replaceTable puts rows under a header and its line of dashes.
func replaceTable(t *testing.T, text, header string, rows []string) string {
	t.Helper()
	before, rest, found := strings.Cut(text, header+"\n")
	if !found {
		t.Fatalf("there is no table %q", header)
	}
	dashes, _, _ := strings.Cut(rest, "\n")
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		rest = strings.TrimPrefix(rest, line)
	}
	return before + header + "\n" + dashes + "\n" + strings.Join(rows, "\n") + "\n" + rest
}
