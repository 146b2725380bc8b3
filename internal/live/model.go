package live

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// model is the block as bubbletea draws it.
type model struct {
	rows          func(width, height int) []string
	width, height int
	over          bool
}

type (
	tick time.Time
	stop struct{}
)

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return next() }

func next() tea.Cmd { return tea.Tick(frame, func(t time.Time) tea.Msg { return tick(t) }) }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tick:
		return m, next()
	case stop:
		m.over = true
		return m, tea.Quit
	}
	return m, nil
}

// View implements tea.Model. The cursor stays to be seen, so that a terminal whose program is killed has one.
func (m *model) View() tea.View {
	view := tea.View{DisableBracketedPasteMode: true, Cursor: tea.NewCursor(0, 0)}
	if m.over || m.width <= 0 {
		return view
	}
	rows := m.rows(m.width, m.height)
	if most := max(m.height-2, 1); len(rows) > most {
		rows = rows[:most]
	}
	last := len(rows) - 1
	view.Content = strings.Join(rows, "\n")
	view.Cursor = tea.NewCursor(min(ansi.StringWidth(rows[last]), m.width-1), last)
	return view
}
