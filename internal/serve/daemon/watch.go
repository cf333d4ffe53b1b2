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

// settled is how long files must stay as they are before they are read again: editors
// write in several steps.
const settled = 200 * time.Millisecond

// follow reads the configuration again when it changes, and for each hang-up. The function
// that it returns ends that.
func (d *Daemon) follow(ctx context.Context) (end func()) {
	if d.reloads.load == nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	files, signals := func() {}, d.onHangUp(ctx, d.hangUps)
	if d.reloads.watch {
		files = d.watch(ctx)
	}
	return func() {
		stop()
		files()
		signals()
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
	known, appeared := contents(d.reloads.watched()), false
	folders := map[string]bool{}
	d.watchFolders(w, folders)
	go func() {
		defer close(done)
		defer func() { _ = w.Close() }()
		timer := time.NewTimer(0)
		<-timer.C
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-w.Events:
				if !d.concerns(e.Name) {
					continue // such as the audit log
				}
				appeared = appeared || e.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename)
				timer.Reset(settled)
			case err := <-w.Errors:
				d.log.Warn("a change of files may have been missed; petrigate reload reads them", "error", err)
			case <-timer.C:
				known, appeared = d.changed(ctx, known, appeared), false
				d.watchFolders(w, folders)
			}
		}
	}()
	return func() { <-done }
}

// concerns reports whether a file may be one of the configuration, or a link on the way to
// one.
func (d *Daemon) concerns(name string) bool {
	base := filepath.Base(name)
	switch filepath.Ext(base) {
	case ".rules", ".yaml", ".yml", ".json", ".pnml", ".xml":
		return true
	}
	return strings.HasPrefix(base, "..") || slices.ContainsFunc(d.reloads.watched(), func(file string) bool { return filepath.Base(file) == base })
}

// changed reads the configuration again if something else is in its files than is known, or
// if it is of other files because some have appeared, and returns what is in them.
func (d *Daemon) changed(ctx context.Context, known map[string]string, appeared bool) map[string]string {
	files := d.reloads.watched()
	now := contents(files)
	if maps.Equal(now, known) {
		c, err := d.reloads.load()
		if !appeared || err != nil || slices.Equal(files, filesOf(c)) {
			return known
		}
	}
	d.Reload(ctx, control.Reload{Actor: "changed file"})
	return contents(d.reloads.watched()) // which may be others
}

// contents tells what is in files, or that they cannot be read.
func contents(files []string) map[string]string {
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

// watchFolders watches the folders of the files that are in force.
func (d *Daemon) watchFolders(w *fsnotify.Watcher, folders map[string]bool) {
	for _, name := range d.reloads.watched() {
		for _, dir := range foldersOf(name) {
			if folders[dir] {
				continue
			}
			if err := w.Add(dir); err != nil {
				d.log.Warn("changes in a folder are not noticed; petrigate reload reads them", "folder", dir, "error", err)
			}
			folders[dir] = true
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
