package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/text"
)

// TokenProblems finds what keeps serve from using the token file of a configuration: its mode, its
// owner, or its text. One that cannot be read is a warning: the configuration may be for another
// machine, or for another user of this one.
func TokenProblems(c *config.Config) diag.List {
	if c.Listen.Stdio || c.Listen.Auth != "token" {
		return nil
	}
	path := c.Listen.TokenFile
	if path == "" {
		dir, err := StateDir()
		if err != nil {
			return nil
		}
		path = filepath.Join(dir, "token")
	}
	if c.TextOnly && strings.Contains(path, "${") {
		return nil // the variable was not looked up, so the file is not known
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil // a pipe would wait for its writer
	}
	_, err := readTokens(path)
	unread := (*fs.PathError)(nil)
	switch {
	case err == nil, c.Listen.TokenFile == "" && errors.Is(err, os.ErrNotExist): // serve makes one
		return nil
	case errors.As(err, &unread):
		return diag.List{tokenProblem(c, diag.Warning, check.MissingTokens, fmt.Sprintf("reading %s: %v", path, text.Innermost(err)))}
	}
	return diag.List{tokenProblem(c, diag.Error, check.UnusableTokens, err.Error())}
}

// tokenProblem is a problem at the key that names the file, or at the section if none does.
func tokenProblem(c *config.Config, severity diag.Severity, code, msg string) diag.Problem {
	at := c.Listen.Of("tokenFile", "")
	if at == (config.Position{}) {
		at.File = c.File // the address is not of the file
	}
	p := check.Warning(code, at, msg, "")
	p.Severity, p.Excerpt = severity, c.Listen.Excerpt(at.Line, at.Column)
	return p
}
