package terminal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// maxToolText is the maximum length of a displayed value, in bytes. A longer value is truncated and
// followed by its full length.
const maxToolText = 16 << 10

// PrintToolChanges prints the current definition of each tool next to the accepted one.
func PrintToolChanges(w io.Writer, changes []operator.ToolChange) error {
	var b strings.Builder
	for i, c := range changes {
		if i > 0 {
			b.WriteByte('\n')
		}
		state := "warned about"
		if c.Quarantined {
			state = "quarantined"
		}
		fmt.Fprintf(&b, "%s (%s): %s.\n", text.Escape(c.Canonical), state, text.Escape(c.Why))
		if !c.Accepted.IsZero() {
			fmt.Fprintf(&b, "Accepted %s by %s.\n", c.Accepted.UTC().Format(time.DateTime), text.Escape(cmp.Or(c.By, "nobody known")))
		}
		for _, d := range c.Differences {
			fmt.Fprintf(&b, "  %s\n", text.Excerpt(d.Path, 200))
			writeValue(&b, "-", d.Was)
			writeValue(&b, "+", d.Is)
		}
		if c.MoreDifferences > 0 {
			fmt.Fprintf(&b, "  and %s\n", text.Count(c.MoreDifferences, "more difference"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// PrintUnpinned lists the proxies that do not detect changes to tools.
func PrintUnpinned(w io.Writer, proxies []operator.Status) error {
	var b strings.Builder
	for i := range proxies {
		if p := &proxies[i]; p.Pinning == "off" {
			fmt.Fprintf(&b, "Process %d (%s) does not detect changes: pinning is off. Set pinning: { mode: warn }, or enforce; "+
				"the default with state.driver: memory is off.\n", p.Pid, text.Escape(cmp.Or(p.Config, "no configuration file")))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeValue writes a JSON value with the given sign, "-" or "+", before each line. It writes a
// string without quotes.
func writeValue(b *strings.Builder, sign string, value json.RawMessage) {
	if value == nil {
		return
	}
	shown, isText := rawjson.String(value)
	if !isText {
		var compact bytes.Buffer
		if json.Compact(&compact, value) != nil {
			compact.Write(value)
		}
		shown = compact.String()
	}
	all := len(shown)
	shown = text.EscapeLines([]byte(shown[:min(all, maxToolText)]))
	for _, line := range strings.Split(strings.TrimSuffix(shown, "\n"), "\n") {
		fmt.Fprintf(b, "    %s %s\n", sign, line)
	}
	if all > maxToolText {
		fmt.Fprintf(b, "    %s ... (%d bytes in all)\n", sign, all)
	}
}
