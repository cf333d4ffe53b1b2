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

// A Text holds rules or nets that the policy in force was built from.
type Text struct {
	ID     string // valid as long as the policy in force contains the text
	Name   string // file name, as used in problem positions
	Kind   string
	Text   string // content of the text when the policy in force was built
	Closed string // why the text cannot be edited; empty if it can be edited

	index int // index of the text in the configuration's list of rules
}

// texts returns the texts in the configuration, rules first and nets last. The configuration file
// itself is not included, because it may contain secrets.
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

// netText returns the text of a net file. If the file has changed since it was loaded, the text
// cannot be edited.
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
