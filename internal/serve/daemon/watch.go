package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/petrigate/petrigate/internal/serve/control"
)

// settleDelay is how long files must stay as they are before they are read again: editors
// write in several steps.
const settleDelay = 200 * time.Millisecond

// follow reads the configuration again when it changes, and for each hang-up. The function
// that it returns ends that.
func (d *Daemon) follow(ctx context.Context) (end func()) {
	if d.reloads.load == nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	files, signals, bases := func() {}, d.onHangUp(ctx, d.hangUps), d.refresh(ctx)
	if d.reloads.watch {
		files = d.watch(ctx)
	}
	return func() {
		stop()
		files()
		signals()
		bases()
	}
}

// watch reads the configuration again when it changes, or a file of rules or nets that it
// names. It watches the folders of the files and of what they are links to, since editors,
// and Kubernetes, put new files in place of old ones.
func (d *Daemon) watch(ctx context.Context) (wait func()) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		d.log.Warn("changed files are not noticed; petrigate reload reads them", "error", err)
		return func() {}
	}
	done := make(chan struct{})
	f := &follower{Daemon: d, watcher: w, folders: map[string]bool{}}
	files, read := d.reloads.files(), d.reloads.sums()
	f.watchFolders(files)
	f.known = subset(read, files)
	timer := time.NewTimer(settleDelay)
	if maps.Equal(hashes(files), f.known) { // nothing has changed since they were read
		timer.Stop()
	}
	go func() {
		defer close(done)
		defer func() { _ = w.Close() }()
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-w.Events:
				if !d.isRelevant(e.Name) {
					continue // such as the audit log
				}
				f.appeared = f.appeared || e.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename)
				timer.Reset(settleDelay)
			case err := <-w.Errors:
				d.log.Warn("a change of files may have been missed; petrigate reload reads them", "error", err)
			case <-timer.C:
				f.check(ctx)
			}
		}
	}()
	return func() { <-done }
}

// isRelevant reports whether a file may be one of the configuration, or a link on the way to
// one.
func (d *Daemon) isRelevant(name string) bool {
	base := filepath.Base(name)
	switch filepath.Ext(base) {
	case ".rules", ".yaml", ".yml", ".json", ".pnml", ".xml":
		return true
	}
	return strings.HasPrefix(base, "..") || slices.ContainsFunc(d.reloads.files(), func(file string) bool { return filepath.Base(file) == base })
}

// A follower knows what is in the files of the configuration.
type follower struct {
	*Daemon
	watcher  *fsnotify.Watcher
	folders  map[string]bool   // that are watched
	known    map[string]string // contents of the files that are in force, as they were before these were read
	appeared bool              // some file has appeared since, or is gone
}

// check reads the configuration again if something else is in its files than is known, or
// if it is of other files because some have appeared. What is in them is noted before they are
// read: what changes meanwhile is a change.
func (f *follower) check(ctx context.Context) {
	files, next := f.reloads.files(), []string(nil)
	if c, err := f.reloads.load(); err == nil {
		next = filesOf(c)
	}
	f.watchFolders(next)
	now := hashes(slices.Concat(files, next))
	others := f.appeared && next != nil && !slices.Equal(files, next)
	if f.appeared = false; !others && maps.Equal(subset(now, files), f.known) {
		return
	}
	f.Reload(ctx, control.Reload{Actor: "changed file"})
	files = f.reloads.files() // which may be others
	f.watchFolders(files)
	f.known = subset(now, files)
}

// subset is what is known of some files.
func subset(known map[string]string, files []string) map[string]string {
	some := make(map[string]string, len(files))
	for _, name := range files {
		if content, is := known[name]; is {
			some[name] = content
		}
	}
	return some
}

// hashes tells what is in files, or that they cannot be read.
func hashes(files []string) map[string]string {
	all := make(map[string]string, len(files))
	for _, name := range files {
		text, err := os.ReadFile(name)
		sum := sha256.Sum256(text)
		if all[name] = hex.EncodeToString(sum[:]); err != nil {
			all[name] = fmt.Sprint(err)
		}
	}
	return all
}

// watchFolders watches the folders of files.
func (f *follower) watchFolders(files []string) {
	for _, name := range files {
		for _, dir := range foldersOf(name) {
			if f.folders[dir] {
				continue
			}
			if err := f.watcher.Add(dir); err != nil {
				f.log.Warn("changes in a folder are not noticed; petrigate reload reads them", "folder", dir, "error", err)
			}
			f.folders[dir] = true
		}
	}
}

// foldersOf are those in which a change can put another file in the place of this one: its
// own, and that of what it is a link to.
func foldersOf(name string) []string {
	dirs := []string{filepath.Dir(name)}
	if real, err := filepath.EvalSymlinks(name); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	return dirs
}
