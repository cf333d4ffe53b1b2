package stdiofront

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// compare returns the differences between a transcript through petrigate and a direct one.
//
// It ignores what each side generates by itself:
//
//   - the IDs of requests to the client, and requestState, which petrigate also uses if the server does not
//   - progress tokens that a server repeats
//   - capabilities and supportedVersions, and how long the introduction and the tool list may be cached, because these are petrigate's own
//   - the text of petrigate's own errors, for unknown methods, tools and versions, and for invalid params
//   - whether a request that the client has canceled is answered
//   - how many notifications arrive that do not belong to a request (changed lists, updated resources), because this depends on timing
func compare(direct, through transcript, except []string) (differences []string) {
	differ := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	for i, request := range direct.requests {
		excepted := func(text string) bool { return strings.Contains(string(request.Message), text) }
		if direct.left[i+1] || slices.ContainsFunc(except, excepted) {
			continue
		}
		want, got := normal(request, direct.answers[i+1]), normal(request, through.answers[i+1])
		if want != got {
			differ("%s\n\tdirect  %s\n\tthrough %s", clip(string(request.Message)), clip(want), clip(got))
		}
	}
	if want, got := lines(direct.asked), lines(through.asked); want != got {
		differ("requests to the client\n\tdirect  %s\n\tthrough %s", want, got)
	}
	if want, got := lines(direct.notifications), lines(through.notifications); want != got {
		differ("notifications\n\tdirect  %s\n\tthrough %s", want, got)
	}
	for _, what := range through.missing {
		if !slices.Contains(direct.missing, what) {
			differ("through petrigate there was not %s", clip(what))
		}
	}
	return differences
}

// normal returns an answer without the parts that each side generates.
func normal(request entry, answer json.RawMessage) string {
	if answer == nil {
		return "nothing"
	}
	if failure := at(answer, "error"); failure != nil {
		switch string(at(failure, "code")) {
		case "-32601", "-32602", "-32022":
			failure = without(failure, "message")
		}
		return "error " + string(failure)
	}
	result := without(at(answer, "result"), "requestState")
	m := request.read()
	switch m.Method {
	case "initialize", "server/discover":
		result = without(result, "capabilities", "supportedVersions", "ttlMs", "cacheScope")
	case "tools/list":
		result = without(result, "ttlMs", "cacheScope")
	case "tools/call":
		if at(m.Params, "_meta", "progressToken") != nil && saysToken(result) {
			result = without(result, "content")
		}
	}
	return string(result)
}

// saysToken reports whether a result consists of a single word of text, because the suite's fixture
// returns the progress token that it received.
func saysToken(result json.RawMessage) bool {
	var blocks []struct{ Text string }
	return json.Unmarshal(at(result, "content"), &blocks) == nil && len(blocks) == 1 && len(strings.Fields(blocks[0].Text)) == 1
}

// isNews reports whether messages with the given method do not belong to a request. How many of
// them arrive depends on timing, so a replay waits for each kind only once.
func isNews(method string) bool {
	return strings.HasPrefix(method, "notifications/") && method != "notifications/progress" && method != "notifications/message"
}

// lines converts messages to text. Messages that belong to a request keep their order; of the
// others, each is listed once.
func lines(messages []json.RawMessage) string {
	var ordered, news []string
	for _, m := range messages {
		text := clip(string(m))
		var named struct{ Method string }
		if _ = json.Unmarshal(m, &named); isNews(named.Method) {
			news = append(news, text)
		} else {
			ordered = append(ordered, text)
		}
	}
	slices.Sort(news)
	return strings.Join(append(ordered, slices.Compact(news)...), "\n\t\t")
}

func clip(s string) string {
	const most = 2000
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
