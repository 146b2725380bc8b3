package failure

import "strings"

const (
	day   = `(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?`
	month = `(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)`
	clock = `\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?[AaPp]\.?[Mm]\b\.?)?`
	// abbreviated are the names of zones, not every short word in capitals: WARN may stand behind a time too.
	abbreviated = `(?:UTC|Z|MSK|WIB|WITA|[A-Z]{2,4}T)`
	// zone is what may follow a time: "Z", " JST", " +0900", "-03:00 -03", " GMT+0900 (Japan Standard Time)",
	// "[Europe/Berlin]", and the reading of Go's monotonic clock.
	zone = `(?: ?` + abbreviated + `\b| ?(?:GMT|UTC)?[+-]\d\d(?::?\d\d)?\b| ?\((?:[\w.+-]+ ){1,5}[Tt]ime\)| ?\(` +
		abbreviated +
		`\)| ?\[?\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc|US)(?:/[A-Z][\w+-]+){1,2}\b\]?| m=[+-]\d+(?:\.\d+)?)*`
)

func aDashed(s *shape) bool  { return s.dashed }
func aSlashed(s *shape) bool { return s.slashed }
func anEpoch(s *shape) bool  { return s.epoch }

// namesMonth reports whether one of the months stands in the line with a sign or a number behind its name.
func namesMonth(s *shape) bool {
	for i := 0; i+4 < len(s.lower); i++ {
		c := s.lower[i]
		if c < 'a' || c > 's' || i > 0 && isLetter(s.lower[i-1]) || !isMonth(s.lower[i:i+3]) {
			continue
		}
		rest := strings.TrimLeft(s.lower[i+3:], "abceghilmnorstuvy")
		if rest != "" && !isLetter(rest[0]) {
			return true
		}
	}
	return false
}

func isMonth(abbreviated string) bool {
	switch abbreviated {
	case "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec":
		return true
	}
	return false
}

// times are what a clock or a calendar says, in the ways that languages and tools write it.
var times = []change{
	{func(s *shape) bool { return s.digits && strings.Count(s.lower, "-") >= 4 },
		lazy(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "<uuid>"},
	// As a language writes down a value: Go, Python, Erlang, Rust, and Go's time without its method.
	{word("time.date("), lazy(`\btime\.Date\([^()]*(?:\([^()]*\)[^()]*)*\)`), "<time>"},
	{word("datetime. date(20 datetime(20"),
		lazy(
			`\b(?:datetime\.(?:datetime|date|time)|date|datetime)\(\d[\d, ]+(?:, ?(?:tzinfo|fold)=(?:[^()]|\([^()]*(?:\([^()]*\))?[^()]*\))*)?\)`), "<time>"},
	{word("{{"), lazy(`\{\{20\d\d,\d+,\d+\},\{[\d,.]+\}\}`), "<time>"},
	{word("tv_ wall: ext:"), lazy(`\b(tv_n?sec|wall|ext): ?(?:0x)?[0-9a-fA-F]+`), "$1:<time>"},
	{aDashed, lazy(`\d{4}-\d\d-\d\d(?:(?:T|[ _]| at )\d\d[:_.-]?\d\d(?:[:_.-]?\d\d(?:[.,_]\d+)?)?(?: ?[AaPp][Mm]\b)?)?` +
		zone), "<time>"},
	{aDashed, lazy(`\b20\d\d-W[0-5]\d(?:-[1-7])?\b`), "<time>"},
	{aSlashed, lazy(`\b(?:\d{4}/\d\d/\d\d|\d{1,2}/\d{1,2}/20\d\d|\d{1,2}/\d{1,2}/\d\d,? ` + clock + `)\b(?:,? ` + clock +
		`)?` + zone), "<time>"},
	{func(s *shape) bool { return s.clock && strings.Count(s.lower, ".") >= 2 },
		lazy(`\b(?:\d{4}\.\d\d\.\d\d|\d\d\.\d\d\.\d{4}),? ` + clock + zone), "<time>"},
	{namesMonth, lazy(`\b(?:` + day + `\b,? +)?(?:\d{4} )?(?:\d{1,2}(?:st|nd|rd|th)?[ /-]` + month +
		`\b(?:[ /,-]+\d{2,4}\b)?|` + month + `\b +\d{1,2}(?:st|nd|rd|th)?\b(?:,? \d{4}\b)?)(?:(?:,| at|:)? ?` + clock + zone +
		`)?(?: \d{4}\b)?`), "<time>"},
	{anEpoch, lazy(`\b20\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])(?:[T_-]?\d{6})?Z?\b`), "<time>"},
	{func(s *shape) bool { return s.timed },
		lazy(`(?:\b` + day + `,? )?(?:\b\d{1,2}:\d\d:\d\d(?:[.,:]\d+)?(?: ?[AaPp]\.?[Mm]\b\.?)?` + zone +
			`|\b\d{1,2}:\d\d ?[AaPp][Mm]\b|\b\d+:\d\d\.\d+\b)`), "<time>"},
}
