package daemon

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/serve/control"
)

// settleDelay is how long to wait after a change to a file before reading the files, because
// editors may save a file in several steps.
const settleDelay = 200 * time.Millisecond

// follow starts the goroutines that trigger reloads, unless the configuration cannot be reloaded.
// The returned function stops them and waits until they have ended.
func (t *reloadTriggers) follow(ctx context.Context) (end func()) {
	if t.reloads.load == nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { t.onHangUp(ctx) })
	work.Go(func() { t.refresh(ctx) })
	if t.reloads.watch {
		work.Go(func() { t.watch(ctx) })
	}
	return func() {
		stop()
		work.Wait()
	}
}

// watch reloads the configuration whenever one of its files changes, until ctx is done. It watches
// the directories of the files and of the targets of symbolic links, because editors and Kubernetes
// replace files instead of writing to them.
func (t *reloadTriggers) watch(ctx context.Context) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		t.log.Warn("cannot watch files for changes; run petrigate reload after a change", "error", err)
		return
	}
	defer func() { _ = w.Close() }()
	f := &follower{reloadTriggers: t, watcher: w, folders: map[string]bool{}}
	c, _ := t.reloads.inForce()
	files := filesOf(c)
	f.watchFolders(files)
	f.known = subset(c.Sums, files)
	timer := time.NewTimer(settleDelay)
	if maps.Equal(hashes(files), f.known) { // the files have not changed since the configuration was loaded
		timer.Stop()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-w.Events:
			if !t.reloads.isRelevant(e.Name) {
				continue // not part of the configuration, such as the audit log in the same directory
			}
			f.appeared = f.appeared || e.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename)
			timer.Reset(settleDelay)
		case err := <-w.Errors:
			t.log.Warn("changes to files may have been missed; run petrigate reload", "error", err)
		case <-timer.C:
			f.check(ctx)
		}
	}
}

// A follower reloads the configuration when its files change. It is not safe for concurrent use.
type follower struct {
	*reloadTriggers
	watcher  *fsnotify.Watcher
	folders  map[string]bool   // directories being watched
	known    map[string]string // hashes of the configuration's files when they were last loaded, even if the configuration was rejected
	appeared bool              // whether a file was created or removed since the last check
}

// check reloads the configuration if the content of its files has changed, or if files that belong
// to it were created or removed. It hashes the files before the reload reads them, so that the next
// check notices a change made in between.
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
	f.reload(ctx, control.Reload{Actor: "changed file"})
	files = f.reloads.files() // the reload may have changed the list of files
	f.watchFolders(files)
	f.known = subset(now, files)
}

// subset returns a copy of a map from files to hashes that contains only the given files.
func subset(known map[string]string, files []string) map[string]string {
	some := maps.Clone(known)
	maps.DeleteFunc(some, func(name, _ string) bool { return !slices.Contains(files, name) })
	return some
}

// hashes returns a hash of the content of each file. If a file cannot be read, the error takes the
// place of the hash.
func hashes(files []string) map[string]string {
	all := make(map[string]string, len(files))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if all[name] = audit.HashOf(string(text)); err != nil {
			all[name] = fmt.Sprint(err)
		}
	}
	return all
}

// watchFolders starts watching the directories of the given files.
func (f *follower) watchFolders(files []string) {
	for _, name := range files {
		for _, dir := range foldersOf(name) {
			if f.folders[dir] {
				continue
			}
			if err := f.watcher.Add(dir); err != nil {
				f.log.Warn("cannot watch a folder for changes; run petrigate reload after a change", "folder", dir, "error", err)
			}
			f.folders[dir] = true
		}
	}
}

// foldersOf returns the directories to watch for changes to the file: its own directory and, if the
// file is a symbolic link, the directory of its target.
func foldersOf(name string) []string {
	dirs := []string{filepath.Dir(name)}
	if real, err := filepath.EvalSymlinks(name); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	return dirs
}
