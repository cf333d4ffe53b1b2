package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/text"
)

// audit checks that the audit log can be written.
func (d *Doctor) audit(context.Context) []Finding {
	if d.loaded == nil || d.loaded.Audit.File == "" {
		return nil
	}
	return []Finding{d.writable("the audit log", d.loaded.Audit.File, "set audit.file to a file that you can write", false)}
}

// state checks that the state database can be written.
func (d *Doctor) state(ctx context.Context) []Finding {
	if d.loaded == nil {
		return nil
	}
	switch d.loaded.State.Driver {
	case "sqlite":
		path, err := daemon.StatePath(d.loaded)
		if err != nil {
			return []Finding{failed("set state.path", "%v", err)}
		}
		return []Finding{d.writable("the database", path, "set state.path to a file that you can write", true)}
	case "postgres":
		return d.postgres(ctx)
	}
	return nil
}

// postgres checks the PostgreSQL database by asking it for the current time.
func (d *Doctor) postgres(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	begin := d.Now()
	there, err := postgres.Clock(ctx, d.loaded.State.DSN)
	if err != nil {
		return []Finding{failed("start the database, or correct state.dsn", "the database does not answer: %v", err)}
	}
	return []Finding{ok("the database answers"), d.skew("the database", there, begin)}
}

// writable checks that a file can be written, or created if it does not exist. If creates is true,
// the proxy creates a missing directory; otherwise, a missing directory is a problem.
func (d *Doctor) writable(what, path, fix string, creates bool) Finding {
	info, err := os.Stat(path)
	dir := filepath.Dir(path)
	switch {
	case err == nil && info.IsDir():
		return failed(fix, "%s %s is a folder", what, path)
	case err == nil && !info.Mode().IsRegular():
		return ok("%s %s is not a regular file; not checked", what, path)
	case err == nil:
		err = tryFile(path)
	case errors.Is(err, fs.ErrNotExist):
		if _, gone := os.Stat(dir); errors.Is(gone, fs.ErrNotExist) {
			if creates {
				return ok("%s %s will be created", what, path)
			}
			return failed("mkdir -p -m 700 "+dir, "%s %s cannot be created: its folder does not exist", what, path).
				with("mkdir -p -m 700 "+dir, func(context.Context) error { return os.MkdirAll(dir, 0o700) })
		}
		err = tryFolder(dir)
	}
	if err != nil {
		return failed(fix, "%s %s cannot be written: %v", what, path, text.Innermost(err))
	}
	return ok("%s %s can be written", what, path)
}

func tryFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func tryFolder(dir string) error {
	f, err := os.CreateTemp(dir, ".petrigate-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// A secured value is a file or directory of petrigate, with the mode bits that it must not have.
type secured struct {
	what, path string
	mask       fs.FileMode // mode bits that must not be set
	tolerated  fs.FileMode // bits in mask that cause only a warning
	tokens     bool        // whether the file contains tokens; if so, mask depends on the file's owner
}

// permissions checks whether other users can read or write petrigate's files.
func (d *Doctor) permissions(context.Context) (all []Finding) {
	if runtime.GOOS == "windows" {
		return nil
	}
	for _, s := range d.securedFiles() {
		real, err := filepath.EvalSymlinks(s.path)
		if err != nil {
			continue // petrigate will create the file with the correct mode
		}
		info, err := os.Stat(real)
		if err != nil {
			continue
		}
		if s.tokens {
			s.mask = daemon.ForbiddenOfTokens(info)
		}
		bad := info.Mode().Perm() & s.mask
		if bad == 0 {
			all = append(all, ok("%s %s has mode %04o", s.what, s.path, info.Mode().Perm()))
			continue
		}
		mode := info.Mode().Perm() &^ s.mask
		fix := fmt.Sprintf("chmod %04o %s", mode, s.path)
		say := "other users can write to it"
		if bad&0o022 == 0 {
			say = "other users can read it"
		}
		f := failed(fix, "%s %s: %s (mode %04o)", s.what, s.path, say, info.Mode().Perm())
		if bad&^s.tolerated == 0 {
			f.Status = Warning
		}
		all = append(all, f.with(fmt.Sprintf("%s: mode %04o becomes %04o", s.path, info.Mode().Perm(), mode), chmod(real, info, mode)))
	}
	return all
}

// chmod returns a function that sets the mode of the file at path. The function returns an error if
// the file has since been replaced by another one.
func chmod(path string, was fs.FileInfo, mode fs.FileMode) func(context.Context) error {
	return func(context.Context) error {
		root, err := os.OpenRoot(filepath.Dir(path))
		if err != nil {
			return err
		}
		defer func() { _ = root.Close() }()
		now, err := root.Stat(filepath.Base(path))
		if err == nil && !os.SameFile(was, now) {
			err = fmt.Errorf("%s was replaced in the meantime; nothing was changed", path)
		}
		if err != nil {
			return err
		}
		return root.Chmod(filepath.Base(path), mode)
	}
}

// securedFiles returns petrigate's files and directories, each with the mode bits it must not have.
func (d *Doctor) securedFiles() []secured {
	const others, writers, readers = 0o077, 0o022, 0o055
	all := []secured{{what: "the state folder", path: d.StateDir, mask: writers}, {what: "the folder with backups of client files", path: d.Desk.State, mask: others, tolerated: readers}}
	if d.Config != "" {
		all = append(all, secured{what: "the configuration", path: d.Config, mask: writers})
	}
	token := filepath.Join(d.StateDir, "token")
	if c := d.loaded; c != nil {
		if c.Listen.TokenFile != "" {
			token = c.Listen.TokenFile
		}
		if c.Audit.File != "" {
			all = append(all, secured{what: "the audit log", path: c.Audit.File, mask: others, tolerated: readers})
		}
		if path, err := daemon.StatePath(c); err == nil && c.State.Driver == "sqlite" {
			all = append(all, secured{what: "the database", path: path, mask: others, tolerated: readers})
		}
	}
	return append(all, secured{what: "the token", path: token, tokens: true})
}
