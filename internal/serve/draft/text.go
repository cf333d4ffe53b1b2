package draft

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Values of [Text.Kind].
const (
	Rules       = "rules"
	InlineRules = "inline rules"
	Nets        = "nets"
)

// A Text is one source of the policy in force: a file of rules or nets, or rules written inline in
// the configuration.
type Text struct {
	ID     string // identifier; depends on Kind, Name and the position in the configuration's list of rules
	Name   string // file name, as in reported problems
	Kind   string
	Text   string // content as loaded; empty if it cannot be edited
	Closed string // why the content cannot be edited; empty if it can be edited

	index int // index in the configuration's list of rules
}

// texts returns the sources of the rules and nets in the configuration. The sources of rules come
// first. Nets in the configuration file itself are returned without their content, because the file
// may contain secrets.
func texts(c *config.Config) (all []Text) {
	secrets := c.Secrets()
	for i, r := range c.Rules {
		t := Text{Name: r.File, Kind: Rules, Text: r.Text, index: i}
		if r.Inline() {
			t.Kind = InlineRules
		}
		all = append(all, t)
	}
	seen := map[string]bool{}
	for _, n := range c.Nets {
		if name := n.Position.File; !seen[name] {
			seen[name] = true
			all = append(all, netText(c, name))
		}
	}
	for i := range all {
		t := &all[i]
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", t.index, t.Kind, t.Name))
		t.ID = hex.EncodeToString(sum[:6])
		if at := slices.IndexFunc(c.Bases, func(b config.Base) bool { return b.File == t.Name }); at >= 0 {
			t.Closed = fmt.Sprintf("it belongs to the base policy %q, which only its signer can change; the configuration can only narrow it", c.Bases[at].Name)
		}
		switch {
		case t.Closed != "":
		case len(t.Text) > MaxText:
			t.Closed = fmt.Sprintf("it has more than %d KiB; use petrigate check with a file", MaxText>>10)
		case slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(t.Text, s) }):
			t.Closed = "it contains a value that the configuration keeps secret"
		}
		if t.Closed != "" {
			t.Text = ""
		}
	}
	return all
}

// netText returns a [Text] for a file of nets. Its content cannot be edited if the file is the
// configuration file, cannot be read, or has changed since it was loaded.
func netText(c *config.Config, name string) Text {
	t := Text{Name: name, Kind: Nets}
	switch src, err := readText(name); {
	case name == c.File:
		t.Closed = "these nets are in the configuration, which is not shown because it could contain secrets"
	case err != nil:
		t.Closed = "it cannot be read: " + err.Error()
	case audit.HashOf(string(src)) != c.Sums[name]:
		t.Closed = "the file has changed since it was loaded, and the previous version was not kept; run petrigate reload"
	default:
		t.Text = string(src)
	}
	return t
}

// readText reads a regular file of at most MaxText bytes.
func readText(name string) ([]byte, error) {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is not a file"))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	src, err := io.ReadAll(io.LimitReader(f, MaxText+1))
	if err == nil && len(src) > MaxText {
		err = fmt.Errorf("it has more than %d KiB", MaxText>>10)
	}
	return src, err
}
