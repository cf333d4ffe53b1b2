package router

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// maxInstructions is the maximum length of the instructions in bytes. It is limited because clients
// put them at the start of every conversation.
const maxInstructions = 2 << 10

const (
	instructionsHead = "petrigate decides which tool calls pass. A refused call was not made; the text of its result gives the reason, and the calls that " +
		"make it possible. The resource " + relay.StatusURI + " lists the tools that you can call now."
	cutMark = "\n[cut short]"
)

// instructions returns the proxy's instructions, followed by those of the servers. If there are
// several servers, the instructions of each appear under its name. If no net enforces its decisions
// and there is only one server, its instructions are returned unchanged.
func (r *Router) instructions() string {
	var texts []string
	for _, u := range r.Pool.Servers {
		state := u.State()
		if state.Phase != upstream.Up || state.Instructions == "" {
			continue
		}
		text := state.Instructions
		if len(r.Pool.Servers) > 1 {
			text = u.Config.Name + ":\n" + text
		}
		texts = append(texts, text)
	}
	switch {
	case r.Relay.OffersStatus():
		return strings.Join(append([]string{instructionsHead}, fit(texts, maxInstructions-len(instructionsHead))...), "\n\n")
	case len(r.Pool.Servers) == 1:
		return strings.Join(texts, "")
	}
	return strings.Join(fit(texts, maxInstructions), "\n\n")
}

// fit shortens the texts so that all of them, with blank lines between them, have a total length of
// at most room bytes. Each text gets the same share; long texts also share the bytes that short
// texts do not use.
func fit(texts []string, room int) []string {
	byLength := make([]int, len(texts))
	for i := range texts {
		byLength[i] = i
	}
	slices.SortStableFunc(byLength, func(a, b int) int { return len(texts[a]) - len(texts[b]) })
	cut := make([]string, len(texts))
	for k, i := range byLength {
		share := room / (len(texts) - k)
		cut[i] = cutAtLine(texts[i], share-len("\n\n"))
		if cut[i] != "" {
			room -= len(cut[i]) + len("\n\n")
		}
	}
	return slices.DeleteFunc(cut, func(s string) bool { return s == "" })
}

// cutAtLine returns the first lines of text, up to n bytes, and a mark if lines were cut off. If
// the first line is too long, cutAtLine cuts that line. If too little would remain, it returns "".
func cutAtLine(text string, n int) string {
	if len(text) <= n {
		return text
	}
	keep := n - len(cutMark)
	if keep < 40 { // too little to be useful
		return ""
	}
	head := text[:keep+1] // include a newline directly after the bytes to keep
	if at := strings.LastIndexByte(head, '\n'); at > keep/2 {
		return head[:at] + cutMark
	}
	return strings.ToValidUTF8(text[:keep], "") + cutMark
}
