package task

// ParseFile reads a task file: YAML, or Markdown, by its name or, when that tells nothing, by its look. Its error is
// one sentence a mistake: the file, line and column, the key, what was found and what is allowed. The text is a
// person's own: it may name commands.
func ParseFile(name string, content []byte) (Task, error) {
	s := source{name: name}
	text, err := s.readable(content)
	if err != nil {
		return Task{}, err
	}
	if isMarkdown(name, text) {
		return s.markdownTask(text)
	}
	form, d, err := s.form(text)
	if err != nil {
		return Task{}, err
	}
	return d.checked(form)
}
