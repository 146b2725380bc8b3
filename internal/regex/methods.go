package regex

// Match is regexp.Regexp's.
func (p *Pattern) Match(b []byte) bool { return p.Regexp().Match(b) }

// FindString is regexp.Regexp's.
func (p *Pattern) FindString(s string) string { return p.on(s).FindString(s) }

// FindStringIndex is regexp.Regexp's.
func (p *Pattern) FindStringIndex(s string) []int { return p.on(s).FindStringIndex(s) }

// FindStringSubmatch is regexp.Regexp's.
func (p *Pattern) FindStringSubmatch(s string) []string {
	if !p.MatchString(s) {
		return nil
	}
	return p.Regexp().FindStringSubmatch(s)
}

// FindStringSubmatchIndex is regexp.Regexp's.
func (p *Pattern) FindStringSubmatchIndex(s string) []int { return p.on(s).FindStringSubmatchIndex(s) }

// FindSubmatch is regexp.Regexp's.
func (p *Pattern) FindSubmatch(b []byte) [][]byte { return p.Regexp().FindSubmatch(b) }

// FindAllIndex is regexp.Regexp's.
func (p *Pattern) FindAllIndex(b []byte, n int) [][]int { return p.Regexp().FindAllIndex(b, n) }

// FindAllSubmatch is regexp.Regexp's.
func (p *Pattern) FindAllSubmatch(b []byte, n int) [][][]byte {
	return p.Regexp().FindAllSubmatch(b, n)
}

// FindAllString is regexp.Regexp's.
func (p *Pattern) FindAllString(s string, n int) []string { return p.on(s).FindAllString(s, n) }

// FindAllStringIndex is regexp.Regexp's.
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.on(s).FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is regexp.Regexp's.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.on(s).FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is regexp.Regexp's.
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.on(s).FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString is regexp.Regexp's, which would copy also a text that has no match.
func (p *Pattern) ReplaceAllString(s, with string) string {
	if p.MatchString(s) {
		return p.Regexp().ReplaceAllString(s, with)
	}
	return s
}

// ReplaceAllStringFunc is regexp.Regexp's.
func (p *Pattern) ReplaceAllStringFunc(s string, f func(string) string) string {
	return p.on(s).ReplaceAllStringFunc(s, f)
}
