package daemon

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/basefile"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
)

// Policy builds the policy of a configuration, proves its claims, and returns warnings to be
// shown. A policy with a claim that is refuted is an error, of type [diag.List].
func Policy(ctx context.Context, c *config.Config) (*policy.Result, diag.List, error) {
	source := policy.FromConfig(c)
	result, err := policy.Build(source)
	if err != nil {
		return nil, nil, err
	}
	if err := Followed(c); err != nil {
		return nil, nil, err
	}
	if widened := policydiff.Widened(ctx, c, result); len(widened) > 0 {
		return nil, nil, widened
	}
	v, err := check.Run(ctx, result, source, check.LikelyTools(c, result), effort(len(result.Claims)))
	if err != nil {
		return nil, nil, err
	}
	found := v.Problems()
	if refuted := found.Of(diag.Error); len(refuted) > 0 {
		return nil, nil, refuted
	}
	return result, slices.Concat(check.ConfigWarnings(c), result.Problems.Of(diag.Warning),
		check.NoPolicy(source), check.NoUpstream(c), check.Sessions(c), check.ShortSessions(source), found), nil
}

// baseBook is the file with the versions of bases that were in force; "": the configuration
// has no base.
func baseBook(c *config.Config) (string, error) {
	if len(c.Bases) == 0 {
		return "", nil
	}
	dir, err := StateDir()
	return basefile.Book(dir), err
}

// Followed refuses a configuration with a signed base that is older than what was in force, or
// another of the same version. It writes nothing.
func Followed(c *config.Config) error {
	book, err := baseBook(c)
	if err != nil || book == "" {
		return err
	}
	return basefile.Follows(book, seen(c))
}

// seen are the bases of a configuration that are signed.
func seen(c *config.Config) (all []basefile.Seen) {
	for _, b := range c.Bases {
		if b.Key == "" {
			continue
		}
		place := b.File
		if full, err := filepath.Abs(place); err == nil && !strings.Contains(place, "://") {
			place = full
		}
		all = append(all, basefile.Seen{Key: b.Key, Place: place, Name: b.Name, Version: b.Version, Digest: b.Digest})
	}
	return all
}

// noteBases keeps the versions of the bases that are about to be in force, and what was read at
// addresses.
func noteBases(c *config.Config) error {
	book, err := baseBook(c)
	if err != nil || book == "" {
		return err
	}
	if err := basefile.Note(book, seen(c)); err != nil {
		return err
	}
	copies, err := baseCopies()
	for _, b := range c.Bases {
		for _, r := range b.Read {
			err = errors.Join(err, copies.Keep(r.Address, r.Data))
		}
	}
	return err
}

func baseCopies() (basefile.Copies, error) {
	dir, err := StateDir()
	return basefile.Copies{Dir: filepath.Join(dir, "base-copies")}, err
}

// Fetching returns how base policies are read at addresses; where one cannot be read, what was
// in force last is taken.
func Fetching(ctx context.Context) func(address string) ([]byte, error) {
	return func(address string) ([]byte, error) {
		copies, err := baseCopies()
		if err != nil {
			return basefile.Fetch(ctx, address)
		}
		return copies.Read(ctx, address)
	}
}

// Kept returns what a base policy at an address was when it was in force last, and asks nobody.
func Kept(address string) ([]byte, error) {
	copies, err := baseCopies()
	if err != nil {
		return nil, err
	}
	return copies.Kept(address)
}

// tellBases puts into the log what the policy stands on.
func tellBases(log *slog.Logger, c *config.Config) {
	for _, b := range c.Bases {
		log.Info("the policy extends a base", "base", b.Name, "version", b.Version, "digest", b.Digest, "key", b.KeyID(), "from", b.File)
	}
}

// Runnable returns warnings about what the configuration names on this machine, or an error, of
// type [diag.List], with all that cannot be used: commands and files for TLS.
func Runnable(c *config.Config) (diag.List, error) {
	found := slices.Concat(check.MissingCommands(c, diag.Error), TLSProblems(c, diag.Error))
	if errs := found.Of(diag.Error); len(errs) > 0 {
		return nil, errs
	}
	return found, nil
}
