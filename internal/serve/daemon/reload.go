package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

// reloads holds the configuration in force and replaces it when the configuration is reloaded. It
// performs one reload at a time.
type reloads struct {
	load  func() (*config.Config, error) // nil if the configuration cannot be reloaded
	watch bool                           // whether to reload when files change
	level *slog.LevelVar                 // log level, which a reload sets; nil if the level never changes

	mu      sync.Mutex
	config  *config.Config // configuration last applied, including settings that take effect only after a restart
	result  *policy.Result
	review  *review
	started bool // whether the daemon has started to review its policies
	ended   bool

	adopted chan struct{} // receives a value when a new configuration comes into force; see [reloadTriggers.refresh]

	status atomic.Pointer[reloadStatus] // result of the last reload; nil before the first one
}

// reloadStatus is the result of the last reload.
type reloadStatus struct {
	at      time.Time
	problem string // why the new configuration did not take effect; empty if it did
}

// Reload loads the configuration again, compares the new policy with the policy in force and,
// unless o.DryRun is set, applies the new policy. If the result contains a problem, the old policy
// remains in force.
func (d *Daemon) Reload(ctx context.Context, o control.Reload) control.Reloaded {
	defer d.processors.useAll()() // use all processors, so that the reload does not delay calls
	r := d.reloads.reload(ctx, d, o)
	d.logReload(o, &r)
	return r
}

// logReload logs the result of a reload and stores it for the status.
func (d *Daemon) logReload(o control.Reload, r *control.Reloaded) {
	attrs := []any{"actor", o.Actor, "result", r.Result}
	switch {
	case r.Problem != "":
		d.log.Error("the configuration was rejected; the previous one stays in effect", append(attrs, logkind.NotLoaded, "problem", r.Problem)...)
	case o.DryRun:
		return
	case r.Result == control.Unchanged:
		d.log.Info("configuration reloaded: the policy is the same", append(attrs, logkind.Reloaded, "policy", r.Policy)...)
	default:
		difference, left := firstLines(r.Diff)
		attrs = append(attrs, logkind.Reloaded, "policy", r.Policy, "before", r.Before, "difference", difference, "nets", r.CountNets())
		if left > 0 {
			attrs = append(attrs, "more", fmt.Sprintf("petrigate diff BEFORE AFTER shows %s, if you have the previous files", text.Count(left, "line")))
			d.log.Debug("the whole difference of the two policies", "difference", r.Diff)
		}
		d.log.Warn("a new policy has taken effect", attrs...)
	}
	for _, key := range r.Restart {
		d.log.Warn("a configuration change requires a restart", logkind.Restart, "key", key)
	}
	if !o.DryRun {
		d.monitor.metrics.Reloaded(r.Problem)
		d.reloads.status.Store(&reloadStatus{at: time.Now(), problem: r.Problem})
	}
}

// maxDifference is the maximum length of the policy difference in a log line, in bytes.
const maxDifference = 300

// firstLines returns the first lines of diff, joined into a single line, and the number of lines
// left out. It limits the result to about maxDifference bytes, but never shortens or omits the
// first line.
func firstLines(diff string) (first string, left int) {
	for line := range strings.Lines(diff) {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case line == "":
		case first == "":
			first = line
		case left > 0 || len(first)+len(line) > maxDifference:
			left++
		case strings.HasSuffix(first, ":"):
			first += " " + line
		default:
			first += "; " + line
		}
	}
	return first, left
}

func (s *reloads) reload(ctx context.Context, d *Daemon, o control.Reload) (r control.Reloaded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.load == nil {
		return control.Reloaded{Result: control.Invalid, Problem: "the proxy was started without a configuration file: there is nothing to reload"}
	}
	r.Before = s.result.Policy.Fingerprint()
	r.Policy = r.Before
	c, err := s.load()
	if err != nil {
		r.Result, r.Problem = control.Invalid, problemText(err)
		return r
	}
	result, known, err := Policy(ctx, c)
	if err != nil {
		r.Result, r.Problem = control.Invalid, problemText(err)
		return r
	}
	r.Warnings, r.Restart = formatProblems(known), needRestart(d.config, c)
	if changed := result.Policy.Fingerprint(); changed != r.Before {
		r.Difference, r.Diff = s.diff(ctx, c, result)
	}
	if !o.DryRun {
		if err := recordBases(c); err != nil {
			r.Result, r.Problem = control.Invalid, problemText(err)
			return r
		}
	}
	r.Nets, err = d.Proxy.Reload(ctx, d.replacement(c, result, o))
	switch {
	case errors.Is(err, proxy.ErrHeld):
		r.Result, r.Problem = control.Held, r.HeldNets()
		return r
	case err != nil:
		r.Result, r.Problem = control.Failed, err.Error()
		return r
	}
	r.Policy = result.Policy.Fingerprint()
	switch {
	case o.DryRun:
		r.Result = control.DryRun
		return r
	case r.Policy == r.Before:
		r.Result = control.Unchanged
	default:
		r.Result = control.Applied
	}
	s.adopt(d, c, result, known)
	return r
}

// adopt makes c the configuration in force, sets the log level, and logs the base policies. If
// startReview has been called and close has not, adopt also starts a review of the new policy. The
// caller must hold s.mu.
func (s *reloads) adopt(d *Daemon, c *config.Config, result *policy.Result, known diag.List) {
	if s.level != nil {
		s.level.Set(Level(c.Log.Level))
	}
	d.logBases(c)
	s.review.Close()
	s.config, s.result, s.review = c, result, newReview(c, known)
	select {
	case s.adopted <- struct{}{}:
	default:
	}
	if s.started && !s.ended {
		s.review.start(d)
	}
}

// Level returns the log level with the given name.
func Level(name string) slog.Level {
	return map[string]slog.Level{"debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError}[name]
}

// startReview starts a review of the policy in force.
func (s *reloads) startReview(d *Daemon) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = true
	s.review.start(d)
}

// close ends the current review. No review can start afterwards.
func (s *reloads) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.review.Close()
}

// files returns the files that make up the configuration in force.
func (s *reloads) files() []string {
	c, _ := s.inForce()
	return filesOf(c)
}

// isRelevant reports whether name may be a file of the configuration, or a symbolic link on the
// path to such a file.
func (s *reloads) isRelevant(name string) bool {
	base := filepath.Base(name)
	switch filepath.Ext(base) {
	case ".rules", ".yaml", ".yml", ".json", ".pnml", ".xml":
		return true
	}
	return strings.HasPrefix(base, "..") || slices.ContainsFunc(s.files(), func(file string) bool { return filepath.Base(file) == base })
}

// inForce returns the configuration and the policy that are in force.
func (s *reloads) inForce() (*config.Config, *policy.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config, s.result
}

// replacement returns everything that the proxy needs to replace its policy: the new policy, and
// the settings that are derived from the new configuration.
func (d *Daemon) replacement(c *config.Config, result *policy.Result, o control.Reload) proxy.Replacement {
	r := proxy.Replacement{
		Policy: result.Policy, Active: result.Active, Advertise: c.Advertise,
		Files: policyFiles(c), Reset: o.Reset, Try: o.DryRun, Pipefail: c.Shell.AddsPipefail(),
	}
	if (d.config.Advertise == "enabled") != (c.Advertise == "enabled") {
		r.Advertise = d.config.Advertise
	}
	r.Remedy, r.Impossible = d.remedies(result.Policy).remedy, impossibleTools(result.Policy)
	return r
}

// diffTime is the maximum time for comparing a new policy with the policy in force.
const diffTime = 2 * time.Second

// diff compares the new policy with the policy in force. It returns the result in one word, such as
// "stricter", and an explanation. The caller must hold s.mu.
func (s *reloads) diff(ctx context.Context, c *config.Config, result *policy.Result) (word, story string) {
	found, err := policydiff.CompareResults(ctx, s.result, policy.FromConfig(s.config), result, policy.FromConfig(c), diffTime)
	if err != nil {
		return "unknown", "the policies cannot be compared: " + err.Error()
	}
	return found.Report().Result, found.Text("the policy before", "the new policy")
}

// problemText formats configuration problems with their positions and source lines.
func problemText(err error) string {
	if list, rest := check.ConfigProblems(err); rest == nil && len(list) > 0 {
		return formatProblems(list)
	}
	if os.IsNotExist(err) {
		return text.Innermost(err).Error()
	}
	return err.Error()
}

func formatProblems(l diag.List) string {
	var b strings.Builder
	l.Print(&b, false)
	return strings.TrimRight(b.String(), "\n")
}
