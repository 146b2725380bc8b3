package regex

// Match is regexp.Regexp's.
func (p *Pattern) Match(b []byte) bool { return p.Regexp().Match(b) }

// MatchString is regexp.Regexp's.
func (p *Pattern) MatchString(s string) bool {
	return p.may(s) && p.compiled.MatchString(s)
}

// FindString is regexp.Regexp's.
func (p *Pattern) FindString(s string) string {
	if !p.may(s) {
		return ""
	}
	return p.Regexp().FindString(s)
}

// FindStringIndex is regexp.Regexp's.
func (p *Pattern) FindStringIndex(s string) []int {
	if !p.may(s) {
		return nil
	}
	return p.Regexp().FindStringIndex(s)
}

// FindStringSubmatch is regexp.Regexp's.
func (p *Pattern) FindStringSubmatch(s string) []string {
	if !p.may(s) {
		return nil
	}
	return p.Regexp().FindStringSubmatch(s)
}

// FindStringSubmatchIndex is regexp.Regexp's.
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	if !p.may(s) {
		return nil
	}
	return p.Regexp().FindStringSubmatchIndex(s)
}

// FindSubmatch is regexp.Regexp's.
func (p *Pattern) FindSubmatch(b []byte) [][]byte { return p.Regexp().FindSubmatch(b) }

// FindAllIndex is regexp.Regexp's.
func (p *Pattern) FindAllIndex(b []byte, n int) [][]int { return p.Regexp().FindAllIndex(b, n) }

// FindAllSubmatch is regexp.Regexp's.
func (p *Pattern) FindAllSubmatch(b []byte, n int) [][][]byte {
	return p.Regexp().FindAllSubmatch(b, n)
}

// FindAllString is regexp.Regexp's.
func (p *Pattern) FindAllString(s string, n int) []string {
	if !p.may(s) {
		return nil
	}
	return p.Regexp().FindAllString(s, n)
}

// FindAllStringIndex is regexp.Regexp's.
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	if !p.may(s) {
		return nil
	}
	return p.Regexp().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is regexp.Regexp's.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	if !p.may(s) {
		return nil
	}
	return p.Regexp().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is regexp.Regexp's.
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	if !p.may(s) {
		return nil
	}
	return p.Regexp().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString is regexp.Regexp's.
func (p *Pattern) ReplaceAllString(s, with string) string {
	if !p.may(s) {
		return s
	}
	return p.Regexp().ReplaceAllString(s, with)
}

// ReplaceAllStringFunc is regexp.Regexp's.
func (p *Pattern) ReplaceAllStringFunc(s string, f func(string) string) string {
	if !p.may(s) {
		return s
	}
	return p.Regexp().ReplaceAllStringFunc(s, f)
}
