package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/basefile"
	"github.com/petrigate/petrigate/internal/list"
)

// versionsFile returns the path of the file that records, for each signed base policy, the highest
// version that has been in force. It returns "" if the configuration has no base.
func versionsFile(c *config.Config) (string, error) {
	if len(c.Bases) == 0 {
		return "", nil
	}
	dir, err := StateDir()
	return basefile.VersionsPath(dir), err
}

// CheckBases checks that no signed base policy has been replaced by an older one. It returns an
// error if a base is older than the version last in force, or if its content has changed but its
// version has not. It also returns an error if the name of a base has changed but its location and
// key have not. All errors are returned together, as a [config.ErrorList]. CheckBases writes
// nothing to disk.
func CheckBases(c *config.Config) error {
	book, err := versionsFile(c)
	if err != nil || book == "" {
		return err
	}
	var wrong config.ErrorList
	for _, b := range c.Bases {
		if b.Key == "" {
			continue
		}
		if err := basefile.CheckVersions(book, []basefile.Seen{seenBase(b)}); err != nil {
			wrong = append(wrong, config.Error{File: b.Entry.File, Line: b.Entry.Line, Column: b.Entry.Column, Msg: err.Error()})
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

// seenBase returns the entry for the base in the file of recorded versions.
func seenBase(b config.Base) basefile.Seen {
	place := b.File
	if full, err := filepath.Abs(place); err == nil && !strings.Contains(place, "://") {
		place = full
	}
	return basefile.Seen{Key: b.Key, Place: place, Name: b.Name, Version: b.Version, Digest: b.Digest}
}

// recordBases records the versions of signed bases that are about to take effect. It also stores
// copies of the bases that were fetched from a URL.
func recordBases(c *config.Config) error {
	book, err := versionsFile(c)
	if err != nil || book == "" {
		return err
	}
	signed := list.Filter(c.Bases, func(b config.Base) bool { return b.Key != "" })
	if err := basefile.Record(book, list.Map(signed, seenBase)); err != nil {
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

// BaseFetcher returns a function that fetches a base policy and its signature, if any, from the
// given addresses. If fetching fails, the function returns the stored copies, along with a
// [*basefile.CopyError]. The copies were stored when the base last took effect. If no copies are
// stored, the function returns only an error.
func BaseFetcher(ctx context.Context) config.Fetch {
	return func(addresses ...string) ([][]byte, error) {
		copies, err := baseCopies()
		if err != nil {
			return nil, err
		}
		return copies.Read(ctx, addresses...)
	}
}

// StoredBases returns the stored copies of the base policies at the given addresses. Each copy
// holds the version that was last in force. StoredBases does not access the network.
func StoredBases(addresses ...string) ([][]byte, error) {
	copies, err := baseCopies()
	if err != nil {
		return nil, err
	}
	return copies.Kept(addresses...)
}

// sameBases reports whether a and b contain the same bases with the same content.
func sameBases(a, b *config.Config) bool {
	return slices.EqualFunc(a.Bases, b.Bases, func(a, b config.Base) bool {
		return a.File == b.File && a.Digest == b.Digest && a.Key == b.Key
	})
}
