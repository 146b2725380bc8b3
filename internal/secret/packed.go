package secret

import (
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"io"
	"strings"
)

const (
	// mostDepth is how often something compressed is looked for within something compressed.
	mostDepth = 3
	// mostUnpacked is how much of one compressed text is read, and mostAttempts how many are tried in one text.
	mostUnpacked = 8 << 20
	mostAttempts = 400
	// mostWork is how much is unpacked of one text in all.
	mostWork = 64 << 20
)

// opener makes a reader of what is compressed.
type opener func(io.Reader) (io.Reader, error)

func openGzip(r io.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(r)
	if err == nil {
		z.Multistream(false) // each begins with a mark of its own
	}
	return z, err
}

func openZlib(r io.Reader) (io.Reader, error)  { return zlib.NewReader(r) }
func openBzip2(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }

// openZip reads a file of an archive from its header on.
func openZip(r io.Reader) (io.Reader, error) {
	var header [30]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	names := int64(binary.LittleEndian.Uint16(header[26:])) + int64(binary.LittleEndian.Uint16(header[28:]))
	if _, err := io.CopyN(io.Discard, r, names); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint16(header[8:]) != 8 { // not compressed: it is found as it is
		return strings.NewReader(""), nil
	}
	return flate.NewReader(r), nil
}

// openText is for what is only encoded: marks are looked for in it.
func openText(r io.Reader) (io.Reader, error) { return r, nil }

// mark is how something compressed begins, and how it is written: nil, as it is.
type mark struct {
	begins string
	as     string
	open   opener
	decode func(text string) *decoder
}

var marks = []mark{
	{"\x1f\x8b\x08", "compressed with gzip", openGzip, nil},
	{"PK\x03\x04", "in a zip archive", openZip, nil},
	{"BZh91AY&SY", "compressed with bzip2", openBzip2, nil},
	{"\x78\x9c", "compressed with zlib", openZlib, nil},
	{"\x78\xda", "compressed with zlib", openZlib, nil},
	{"H4sI", "compressed with gzip, in base64", openGzip, fromBase64},
	{"UEsDB", "in a zip archive, in base64", openText, fromBase64},
	{"QlpoOTFBWSZTW", "compressed with bzip2, in base64", openBzip2, fromBase64},
	{"eJw", "compressed with zlib, in base64", openZlib, fromBase64},
	{"eJx", "compressed with zlib, in base64", openZlib, fromBase64},
	{"eJy", "compressed with zlib, in base64", openZlib, fromBase64},
	{"eJz", "compressed with zlib, in base64", openZlib, fromBase64},
	{"eNo", "compressed with zlib, in base64", openZlib, fromBase64},
	{"eNp", "compressed with zlib, in base64", openZlib, fromBase64},
	{"eNq", "compressed with zlib, in base64", openZlib, fromBase64},
	{"eNr", "compressed with zlib, in base64", openZlib, fromBase64},
	{"1f8b08", "compressed with gzip, in hexadecimal digits", openGzip, fromHex},
	{"1F8B08", "compressed with gzip, in hexadecimal digits", openGzip, fromHex},
	{"789c", "compressed with zlib, in hexadecimal digits", openZlib, fromHex},
	{"504b0304", "in a zip archive, in hexadecimal digits", openText, fromHex},
}

// packed finds what tells a secret within something compressed. Of that, all is a span.
func (k *Redactor) packed(text string, shared bool, depth int) (found []Span) {
	if depth == 0 {
		return nil
	}
	attempts, work, from := 0, mostWork, 0
	for attempts < mostAttempts && work > 0 {
		at, m := nextMark(text, from)
		if m == nil {
			break
		}
		from = at + 1
		attempts++
		content, size := m.unpack(text[at:], work)
		work -= len(content) + 1
		if len(content) > 0 && (len(k.plain(content, shared)) > 0 || len(k.packed(content, shared, depth-1)) > 0) {
			found = append(found, Span{at, at + size, m.as})
			from = at + size
		}
	}
	return found
}

// begins has a bit for the first bytes of every mark.
var begins = func() (bits [64]uint64) {
	for _, m := range marks {
		h := markHash(m.begins[0], m.begins[1])
		bits[h>>6] |= 1 << (h & 63)
	}
	return bits
}()

func markHash(a, b byte) uint32 { return (uint32(a)<<8 | uint32(b)) * 0x9E3779B1 >> 20 }

// nextMark is the first mark at or after a place of a text; nil: there is none.
func nextMark(text string, from int) (at int, of *mark) {
	for at = from; at+1 < len(text); at++ {
		if h := markHash(text[at], text[at+1]); begins[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for i := range marks {
			if strings.HasPrefix(text[at:], marks[i].begins) {
				return at, &marks[i]
			}
		}
	}
	return len(text), nil
}

// unpack reads what a text begins with, as far as it can be read, and says how much of the text that was.
func (m *mark) unpack(text string, most int) (content string, size int) {
	if m.decode == nil {
		in := strings.NewReader(text)
		content = m.read(in, most)
		return content, len(text) - in.Len()
	}
	in := m.decode(text)
	content = m.read(in, most)
	return content, in.at
}

func (m *mark) read(in io.Reader, most int) string {
	r, err := m.open(in)
	if err != nil {
		return ""
	}
	var out bytes.Buffer
	_, _ = io.Copy(&out, io.LimitReader(r, int64(min(mostUnpacked, most)))) // what can be read of one that is cut counts
	return out.String()
}

// decoder reads digits as the bytes that they stand for. It knows how far it has come, since the readers of what is
// compressed ask for a byte at a time.
type decoder struct {
	text   string
	at     int
	digits *[256]int8 // -1: no digit
	width  int        // bits of a digit
	hold   uint
	have   int
}

var base64Digits, hexDigits = digitsOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "-_", 62),
	digitsOf("0123456789abcdef", "ABCDEF", 10)

func digitsOf(alphabet, also string, from int) *[256]int8 {
	var digits [256]int8
	for i := range digits {
		digits[i] = -1
	}
	for i := range len(alphabet) {
		digits[alphabet[i]] = int8(i)
	}
	for i := range len(also) {
		digits[also[i]] = int8(from + i)
	}
	return &digits
}

func fromBase64(text string) *decoder { return &decoder{text: text, digits: base64Digits, width: 6} }
func fromHex(text string) *decoder    { return &decoder{text: text, digits: hexDigits, width: 4} }

// ReadByte implements io.ByteReader. Lines may be wrapped, indented or quoted.
func (d *decoder) ReadByte() (byte, error) {
	for d.have < 8 {
		if d.at >= len(d.text) {
			return 0, io.EOF
		}
		c := d.text[d.at]
		digit := d.digits[c]
		if digit < 0 && !strings.ContainsRune("\r\n \t\\\"", rune(c)) {
			return 0, io.EOF
		}
		d.at++
		if digit >= 0 {
			d.hold, d.have = d.hold<<d.width|uint(digit), d.have+d.width
		}
	}
	d.have -= 8
	return byte(d.hold >> d.have), nil
}

// Read implements io.Reader.
func (d *decoder) Read(p []byte) (n int, err error) {
	for n < len(p) {
		b, err := d.ReadByte()
		if err != nil {
			return n, err
		}
		p[n] = b
		n++
	}
	return n, nil
}
