package takeover

import (
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

// show prints what would change in a file, without the secrets that are in it.
func (d *Desk) show(path string, format splice.Format, before, after []byte) error {
	var secrets []clientcfg.Secret
	for _, src := range [][]byte{before, after} {
		doc, err := splice.Parse(path, src, format)
		if err != nil {
			return err
		}
		secrets = append(secrets, clientcfg.Secrets(doc.Tree())...)
	}
	changes := masked(string(textfile.Diff(path, before, path+" (new)", after)), secrets)
	_, err := fmt.Fprint(d.Out, text.EscapeLines([]byte(strings.NewReplacer("\r\n", "\n", "\t", "    ").Replace(changes))))
	return err
}

// shortestLine is the length below which a line of a secret is found in other texts.
const shortestLine = 4

// masked puts stars in the place of secrets, also where they are written with escape sequences or on
// several lines.
func masked(shown string, secrets []clientcfg.Secret) string {
	var words []string
	for _, s := range secrets {
		words = append(words, quoted(s.Value))
		for line := range strings.Lines(s.Value) {
			if line = strings.TrimSpace(line); len(line) >= shortestLine {
				words = append(words, line, quoted(line))
			}
		}
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) }) // the whole before its part
	var pairs []string
	for _, word := range slices.Compact(words) {
		pairs = append(pairs, word, "****")
	}
	stars := strings.NewReplacer(pairs...)
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

// quoted is a text as it stands between the quotes of JSON.
func quoted(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(string(text.EscapeJSON(jsonText(s))), `"`), `"`)
}

// escaped finds printable characters of ASCII that are written as escape sequences.
var escaped = regexp.MustCompile(`\\u00[2-7][0-9A-Fa-f]`)

func unescaped(line string) string {
	return escaped.ReplaceAllStringFunc(line, func(s string) string {
		n, _ := strconv.ParseUint(s[2:], 16, 8) // it is two digits
		return string(rune(n))
	})
}
