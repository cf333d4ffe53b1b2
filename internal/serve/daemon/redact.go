package daemon

import (
	"context"
	"log/slog"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/text"
)

// A masker replaces secrets in strings with asterisks.
type masker struct{ *strings.Replacer }

// A redactor is a log handler that removes secrets from all records, no matter where they come
// from. A server, for example, may print its own command line.
type redactor struct {
	slog.Handler
	secrets masker
}

// redacted returns a handler that removes the given secrets from each record and passes the record
// to h.
func redacted(h slog.Handler, secrets []string) slog.Handler {
	if len(secrets) == 0 {
		return h
	}
	return redactor{h, mask(secrets)}
}

// Handle removes secrets from the record and passes it on.
func (r redactor) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, r.secrets.Replace(record.Message), record.PC)
	record.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(r.attr(a))
		return true
	})
	return r.Handler.Handle(ctx, clean)
}

// WithAttrs implements [slog.Handler].
func (r redactor) WithAttrs(attrs []slog.Attr) slog.Handler {
	return redactor{r.Handler.WithAttrs(r.attrs(attrs)), r.secrets}
}

// WithGroup implements [slog.Handler].
func (r redactor) WithGroup(name string) slog.Handler {
	return redactor{r.Handler.WithGroup(name), r.secrets}
}

func (r redactor) attr(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(r.secrets.Replace(a.Value.String()))
	case slog.KindAny:
		if err, ok := a.Value.Any().(error); ok {
			a.Value = slog.StringValue(r.secrets.Replace(err.Error()))
		}
	case slog.KindGroup:
		a.Value = slog.GroupValue(r.attrs(a.Value.Group())...)
	}
	return a
}

func (r redactor) attrs(all []slog.Attr) []slog.Attr { return list.Map(all, r.attr) }

// mask returns a masker for the given secrets.
func mask(secrets []string) masker { return masker{text.Masker(secrets, "***")} }

// maskUpstreams replaces secrets in the error messages and process output of the upstreams.
func (m masker) maskUpstreams(upstreams []operator.UpstreamStatus) {
	for i := range upstreams {
		u := &upstreams[i]
		u.Error = m.Replace(u.Error)
		for k, line := range u.Said {
			u.Said[k] = m.Replace(line)
		}
	}
}
