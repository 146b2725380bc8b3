//go:build e2e

package e2e_test

import (
	"bytes"
	pixels "image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
)

// The size of a picture: what GitHub shows of a README beside its margins, and as much of a page as tells what it is.
const (
	pictureWidth  = 840
	pictureHeight = 1100
	pictureBytes  = 200 << 10
)

// TestPictures photographs what a demonstration left in the directory that RALPH_PICTURES names, for the README:
// make pictures.
func TestPictures(t *testing.T) {
	dir := os.Getenv("RALPH_PICTURES")
	if dir == "" {
		t.Skip("left out: RALPH_PICTURES names no directory; make pictures does")
	}
	browser := startBrowser(t)
	comment := asComment(t, filepath.Join(dir, "comment.md"))
	for file, name := range map[string]string{comment: "comment.png", filepath.Join(dir, "run.html"): "report.png"} {
		p := open(t, browser, file)
		p.look(pictureWidth, "light")
		shot, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
		noError(t, err)
		filled, err := strconv.Atoi(p.asks(`String(Math.ceil(document.body.getBoundingClientRect().bottom))`))
		noError(t, err)
		small := upper(t, shot, min(filled, pictureHeight))
		if len(small) > pictureBytes {
			t.Errorf("%s has %d bytes, and may have %d", name, len(small), pictureBytes)
		}
		noError(t, os.WriteFile(filepath.Join("../../docs/images", name), small, 0o644))
	}
}

// asComment makes a page of a comment, in the frame that GitHub draws around one.
func asComment(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	noError(t, err)
	return framed(t, text, `<i></i><header style="background: #f6f8fa; border-bottom: 1px solid #d1d9e0; `+
		`margin: -16px -16px 16px; padding: 8px 16px; color: #59636e">`+
		`<strong style="color: #1f2328">github-actions</strong> <small>bot</small> `+
		`commented 1 minute ago · edited</header>`)
}

// upper is the upper part of a picture, in as few bytes as PNG takes.
func upper(t *testing.T, shot []byte, height int) []byte {
	t.Helper()
	whole, err := png.Decode(bytes.NewReader(shot))
	noError(t, err)
	size := whole.Bounds()
	size.Max.Y = min(size.Max.Y, height)
	part := pixels.NewRGBA(size)
	draw.Draw(part, size, whole, size.Min, draw.Src)
	var out bytes.Buffer
	noError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, part))
	return out.Bytes()
}
