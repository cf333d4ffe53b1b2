package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/text"
)

// TokenProblems checks the token file. It reports any problem with the file's mode, owner or
// content that would make petrigate serve fail. A file that cannot be read causes only a warning,
// because the configuration may be meant for another machine or user.
func TokenProblems(c *config.Config) diag.List {
	if c.Listen.Stdio || c.Listen.Auth != "token" {
		return nil
	}
	path, err := tokenPath(c.Listen)
	if err != nil || c.TextOnly && strings.Contains(path, "${") {
		return nil // nothing to check: the state directory is unknown, or the path contains an unexpanded variable
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil // opening a named pipe would block until a process writes to it
	}
	_, err = readTokens(path)
	unread := (*fs.PathError)(nil)
	switch {
	case err == nil, c.Listen.TokenFile == "" && errors.Is(err, os.ErrNotExist): // a missing file at the default path will be created by petrigate serve
		return nil
	case errors.As(err, &unread):
		return diag.List{tokenProblem(c, diag.Warning, check.MissingTokens, fmt.Sprintf("reading %s: %v", path, text.Innermost(err)))}
	}
	return diag.List{tokenProblem(c, diag.Error, check.UnusableTokens, err.Error())}
}

// tokenProblem returns a [diag.Problem] about the token file. Its position is the configuration key
// that names the file or, if the key is absent, the section that could contain the key.
func tokenProblem(c *config.Config, severity diag.Severity, code, msg string) diag.Problem {
	at := c.Listen.Of("tokenFile", "")
	if at == (config.Position{}) {
		at.File = c.File // the line is unknown, so report only the file
	}
	p := check.Warning(code, at, msg, "")
	p.Severity, p.Excerpt = severity, c.Listen.Excerpt(at.Line, at.Column)
	return p
}
