package takeover

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/textfile"
)

// show prints the changes to a file as a diff with secrets masked.
func (d *Driver) show(f *file, after []byte) error {
	var secrets []clientcfg.Secret
	for _, src := range [][]byte{f.src, after} {
		doc, err := splice.Parse(f.path, src, f.client.Format)
		if err != nil {
			return err
		}
		secrets = append(secrets, clientcfg.Secrets(doc.Tree())...)
	}
	changes := masked(string(textfile.Diff(f.path, f.src, f.path+" (new)", after)), secrets)
	_, err := fmt.Fprint(d.Out, text.EscapeLines([]byte(strings.NewReplacer("\r\n", "\n", "\t", "    ").Replace(changes))))
	return err
}

// confirm shows the changes to a file, if any, and asks for confirmation.
func (d *Driver) confirm(f *file, after []byte, exists bool) error {
	if bytes.Equal(after, f.src) && exists == f.exists {
		return nil
	}
	if err := d.show(f, after); err != nil {
		return err
	}
	return d.agreeToWrite(f)
}

func (d *Driver) agreeToWrite(f *file) error { return d.Agree("Write " + text.Escape(f.path) + "?") }

// minSecretLine is the minimum length of a line that is masked on its own because it is part of a
// longer secret. Shorter lines also occur in text that is not secret.
const minSecretLine = 4

// masked replaces secrets in text with asterisks, even if they contain escape sequences or span
// several lines.
func masked(shown string, secrets []clientcfg.Secret) string {
	var words []string
	for _, s := range secrets {
		words = append(words, jsonEscaped(s.Value))
		for line := range strings.Lines(s.Value) {
			if line = strings.TrimSpace(line); len(line) >= minSecretLine {
				words = append(words, line, jsonEscaped(line))
			}
		}
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) }) // longest first, because a secret may contain another
	stars := text.Masker(slices.Compact(words), "****")
	var b strings.Builder
	for line := range strings.Lines(shown) {
		plain := unescaped(line)
		if hidden := stars.Replace(plain); hidden != plain {
			b.WriteString(hidden)
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}

// jsonEscaped returns text as it appears within a JSON string.
func jsonEscaped(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(string(text.EscapeJSON(text.QuoteJSON(s))), `"`), `"`)
}

// escaped matches the JSON escape sequence of a printable ASCII character.
var escaped = regexp.MustCompile(`\\u00[2-7][0-9A-Fa-f]`)

func unescaped(line string) string {
	return escaped.ReplaceAllStringFunc(line, func(s string) string {
		n, _ := strconv.ParseUint(s[2:], 16, 8) // cannot fail: the text consists of two hexadecimal digits
		return string(rune(n))
	})
}
