package console

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
)

// rowsShown is the maximum number of rows on one activity page.
const rowsShown = 100

// activityBody holds the data for the activity page. Its rows are the journal rows that match the
// filter, newest first.
type activityBody struct {
	Filter   filter
	Wrong    string // why the filter is invalid; empty if it is valid
	Rows     []*row
	Matching int // number of matching rows on all pages
	Older    string
	Newest   string // URL of the page that shows the newest rows; empty on that page itself
	Export   string
	Paused   bool
	Pause    string // URL that pauses or resumes the updates of this page
	Kinds    []string
	Nets     []string
	Stands   journalStatus
	Kept     bool // whether audit records are stored; they may contain calls that the console no longer keeps
}

func (c *Console) activity(w http.ResponseWriter, r *http.Request) {
	f, err := readFilter(r.URL.Query(), c.options.Now())
	b := activityBody{Filter: f, Paused: r.FormValue("pause") == "1", Kept: c.options.Past != nil}
	all := c.journal.all()
	b.Stands = c.journal.status()
	b.Kinds, b.Nets = choices(all)
	if err != nil {
		b.Wrong = err.Error()
	} else {
		b.selectRows(all, r.FormValue("before"))
	}
	b.setLinks(r.FormValue("before"))
	c.show(w, r, "activity", "Activity", &b)
}

// selectRows selects the newest matching rows for the page. If a row number is given, only rows
// with lower numbers are selected.
func (b *activityBody) selectRows(all []*row, before string) {
	most, err := strconv.ParseUint(before, 10, 64)
	if err != nil {
		most = 0
	}
	m := b.Filter.matcher()
	for _, one := range slices.Backward(all) {
		if !m.matches(one) {
			continue
		}
		b.Matching++
		if most > 0 && one.n >= most {
			continue
		}
		if len(b.Rows) == rowsShown {
			b.Older = strconv.FormatUint(b.Rows[rowsShown-1].n, 10)
			continue
		}
		b.Rows = append(b.Rows, one)
	}
}

func (b *activityBody) setLinks(before string) {
	v := b.Filter.values()
	b.Export = addressOf("/activity.jsonl", v)
	if before != "" {
		b.Newest = addressOf("/activity", v)
	}
	if b.Older != "" {
		b.Older = addressOf("/activity", v, "before", b.Older)
	}
	if !b.Paused {
		v.Set("pause", "1")
	}
	b.Pause = addressOf("/activity", v, "before", before)
}

// addressOf returns a URL with the given path and query. The other arguments are names of query
// parameters, each followed by its value. addressOf adds or replaces these parameters. If a value
// is empty, the parameter is left unchanged.
func addressOf(path string, query url.Values, more ...string) string {
	v := url.Values{}
	maps.Copy(v, query)
	for i := 0; i+1 < len(more); i += 2 {
		if more[i+1] != "" {
			v.Set(more[i], more[i+1])
		}
	}
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

// FilterURL returns the URL of this page with one field of the filter set to the given value.
func (b *activityBody) FilterURL(name, value string) string {
	return addressOf("/activity", b.Filter.values(), name, value)
}

// Since returns the start of the period that the journal covers completely. Usually, this is the
// time when the journal was opened. If the journal has dropped rows, or if audit records are
// stored, it is the time of the oldest row, or the zero time if the journal is empty.
func (b *activityBody) Since() time.Time {
	if b.Stands.Full || b.Kept {
		return b.Stands.First
	}
	return b.Stands.Began
}

// choices returns the values that the filter offers: the refusal kinds and the net names that occur
// in the rows.
func choices(all []*row) (kinds, nets []string) {
	k, n := map[string]bool{}, map[string]bool{}
	for _, r := range all {
		if r.Kind != "" {
			k[r.Kind] = true
		}
		for i := range r.Nets {
			n[r.Nets[i].Net] = true
		}
	}
	return inOrder(k), inOrder(n)
}

// maxChoices limits the number of refusal kinds and the number of net names that the filter offers.
const maxChoices = 200

func inOrder(set map[string]bool) []string {
	list := slices.Sorted(maps.Keys(set))
	return list[:min(len(list), maxChoices)]
}

// exportTime is the maximum duration of an export.
const exportTime = 2 * time.Minute

// export sends the rows that match the filter in the URL, oldest first, as one JSON object per
// line.
func (c *Console) export(w http.ResponseWriter, r *http.Request) {
	f, err := readFilter(r.URL.Query(), c.options.Now())
	if err != nil {
		c.fail(w, r, http.StatusBadRequest, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Content-Disposition", `attachment; filename="petrigate-activity.jsonl"`)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(exportTime)) // fails only if the connection does not support deadlines
	out := bufio.NewWriter(w)
	m := f.matcher()
	for _, one := range c.journal.all() {
		if !m.matches(one) {
			continue
		}
		line, err := json.Marshal(one)
		if err != nil {
			c.options.Log.Error("call not exported", "id", one.ID, "error", err)
			continue
		}
		if _, err := out.Write(append(text.EscapeJSON(line), '\n')); err != nil {
			return // the browser has disconnected
		}
	}
	_ = out.Flush() // fails only if the browser has disconnected
}

// callBody holds the data for the page about a single call.
type callBody struct {
	*row
	Related []*row                 // rows about an operator's actions on the call, such as setting its outcome; oldest first
	Asked   *operator.ApprovalInfo // the call's approval; nil if the call required no approval, or if the proxy no longer has the approval
}

func (c *Console) call(w http.ResponseWriter, r *http.Request) {
	id, all := r.PathValue("id"), c.journal.all()
	at := slices.IndexFunc(all, func(one *row) bool { return one.ID == id })
	if at < 0 {
		c.fail(w, r, http.StatusNotFound, "This call is not among the newest ones. Search the audit log for older calls: petrigate audit query.")
		return
	}
	b := callBody{row: all[at]}
	if b.Call > 0 && b.IsCall() {
		b.Related = list.Filter(all[at+1:], func(one *row) bool {
			return one.Session == b.Session && one.Call == b.Call && !one.IsCall()
		})
	}
	if b.Approval != "" {
		if a, err := c.options.Proxy.Approval(b.Approval); err == nil {
			b.Asked = &a
		}
	}
	title := "Call to " + text.Escape(b.Tool)
	if !b.IsCall() {
		title = strings.ToUpper(b.Event[:1]) + b.Event[1:]
	}
	c.show(w, r, "call", title, b)
}

// Why explains the decision on the call. It returns "" if the call was allowed because a person
// approved it. If the row describes another kind of event, Why returns the reason recorded with the
// event.
func (r *row) Why() string {
	switch {
	case !r.IsCall():
		return r.Reason
	case r.Decision == "allow" && r.Would != nil:
		return "in shadow, would " + r.Would.Decision + ": " + r.Would.Reason
	case r.Decision == "allow" && r.Actor != "":
		return ""
	case r.Decision == "":
		return "admitted before the oldest available record"
	}
	return r.Reason
}

// When formats the time of the row. It includes the date if the row is not from today.
func (r *row) When(now time.Time) string {
	if midnight(r.Time).Equal(midnight(now)) {
		return r.Time.Local().Format("15:04:05")
	}
	return r.Time.Local().Format("Jan 2 15:04:05")
}

func midnight(t time.Time) time.Time {
	y, m, d := t.Local().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.Local)
}

// Verdicts returns the nets' verdicts on the call. For a refused call, it returns only the verdicts
// of the nets that block the call.
func (r *row) Verdicts() []audit.NetVerdict {
	return list.Filter(r.Nets, func(n audit.NetVerdict) bool { return r.Decision != "refuse" || n.Verdict == "blocked" })
}

// Duration returns the duration of the call in words, such as "1.2 s".
func (r *row) Duration() string { return formatMillis(r.Millis) }

func formatMillis(ms float64) string {
	switch {
	case ms >= 10_000:
		return text.Duration(time.Duration(ms * float64(time.Millisecond)))
	case ms >= 1000:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 10:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
}

// WaitTime returns how long the call waited for a person's answer, or 0 if it did not wait.
func (r *row) WaitTime() time.Duration {
	if r.Approval == "" || r.Called.IsZero() {
		return 0
	}
	return r.Time.Sub(r.Called)
}

// JSON returns the row as indented JSON.
func (r *row) JSON() (string, error) {
	doc, err := json.MarshalIndent(r, "", "  ")
	return string(text.EscapeJSON(doc)), err
}
