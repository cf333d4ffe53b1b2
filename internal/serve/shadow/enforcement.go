package shadow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/textfile"
)

// An enforcement is an edit to a configuration file that switches the policy from shadow mode to
// enforcement.
type enforcement struct {
	file          string // path of the configuration file
	before, after []byte // content of the file before and after the edit; equal if the policy is already enforced

	secrets []string
	fetch   config.Fetch
	text    bool // whether the configuration file is read as plain text; see [config.Config.TextOnly]
}

var (
	// errMode means that the mode in the configuration file cannot be changed automatically.
	errMode = errors.New(`it does not contain "mode: shadow" literally: change it by hand to "mode: enforce"`)
	// errChanged means that the file has changed since it was read.
	errChanged = errors.New("it was changed meanwhile; run petrigate enforce again")
)

// newEnforcement prepares the edit of the configuration file. The edit replaces a single word.
func newEnforcement(c *config.Config) (*enforcement, error) {
	src, err := os.ReadFile(c.File)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration %s: %w", c.File, text.Innermost(err))
	}
	e := &enforcement{file: c.File, before: src, after: src, secrets: c.Secrets(), fetch: c.Fetched, text: c.TextOnly}
	if c.Mode != "shadow" {
		return e, nil
	}
	at := c.Of("mode", "")
	e.after, err = replaceWord(src, at.Line, at.Column, "shadow", "enforce")
	if err == nil {
		if after, failed := e.newConfig(); failed != nil || after.Mode != "enforce" {
			err = errMode
		}
	}
	if err != nil {
		return nil, fmt.Errorf("changing %s: %w", c.File, err)
	}
	return e, nil
}

// replaceWord replaces the old word, which may be quoted, at the given position. It returns an
// error if the old word is not there. Lines and columns start at 1; columns count characters.
func replaceWord(src []byte, line, column int, old, word string) ([]byte, error) {
	at := len(src) - len(bytes.TrimPrefix(src, []byte("\ufeff")))
	for ; line > 1; line-- {
		end := bytes.IndexByte(src[at:], '\n')
		if end < 0 {
			return nil, errMode
		}
		at += end + 1
	}
	rest := []rune(string(src[at:]))
	at += len(string(rest[:min(column-1, len(rest))]))
	if at < len(src) && strings.IndexByte(`"'`, src[at]) >= 0 {
		at++
	}
	if !bytes.HasPrefix(src[at:], []byte(old)) {
		return nil, errMode
	}
	return bytes.Join([][]byte{src[:at], []byte(word), src[at+len(old):]}, nil), nil
}

// newConfig parses the content that the configuration file will have after the edit.
func (e *enforcement) newConfig() (*config.Config, error) {
	return config.Parse(e.file, e.after, config.Options{Fetch: e.fetch, Kept: e.fetch, Found: e.text})
}

func (e *enforcement) isEnforced() bool { return bytes.Equal(e.before, e.after) }

// write shows the change, asks for confirmation, and writes the file. It reports whether the file
// was written.
func (e *enforcement) write(o Options) (written bool, err error) {
	if _, err := fmt.Fprintf(o.Out, "%s\n", textfile.DiffWithout(e.secrets, e.file, e.before, e.file+" (enforced)", e.after)); err != nil {
		return false, err
	}
	agreed := o.Yes
	if !agreed && o.Ask != nil {
		if agreed, err = o.Ask(fmt.Sprintf("Change %s?", e.file)); err != nil {
			return false, err
		}
	}
	if !agreed {
		_, err = fmt.Fprintf(o.Out, "\nNothing was written. petrigate enforce --yes changes %s.\n", e.file)
		return false, err
	}
	now, err := os.ReadFile(e.file)
	if err == nil && !bytes.Equal(now, e.before) {
		err = errChanged
	}
	if err != nil {
		return false, fmt.Errorf("changing %s: %w", e.file, text.Innermost(err))
	}
	if err := textfile.Replace(e.file, e.after); err != nil {
		return false, err
	}
	if o.Written != nil {
		o.Written(e.file, e.before, e.after)
	}
	_, err = fmt.Fprintf(o.Out, "\nChanged: %s. To revert, set mode: shadow again.\n", e.file)
	return true, err
}

// shadowNets returns the name of each net that is itself in shadow mode, followed by the position
// of its definition.
func shadowNets(r *policy.Result) (all []string) {
	for i, n := range r.Policy.Nets() {
		if n.Shadow {
			at := r.Nets[i].Rule
			all = append(all, fmt.Sprintf("%s (%s:%d)", text.Escape(n.Name), text.Escape(at.File), at.Line))
		}
	}
	return all
}

// Options configures [Enforce].
type Options struct {
	Out, Err io.Writer
	Yes      bool                                // whether to write the file without asking
	Ask      func(question string) (bool, error) // asks the user a question; nil if no user can be asked
	Actor    string                              // name of the operator, for the audit log
	Runtime  string                              // directory with the sockets of running proxies
	Reading  func(records int)                   // called repeatedly with the number of audit records read so far
	Read     func()                              // called after the last audit record has been read

	Written func(file string, before, after []byte) // called after the configuration file has changed; may be nil
}
