package operator

import "github.com/petrigate/petrigate/internal/runtime/admission"

// A ShadowInfo counts the calls that nets in shadow mode would have refused or made subject to
// approval if they were enforced.
type ShadowInfo struct {
	Policy  bool        `json:"policy"`  // whether the entire policy is in shadow mode
	Refused int         `json:"refused"` // number of calls that would have been refused
	Asked   int         `json:"asked"`
	Would   []WouldInfo `json:"would"` // refusals and approval requests that nets in shadow mode would have caused, most frequent first
	Nets    []ShadowNet `json:"nets"`  // one entry for each net in shadow mode in each open session
}

// A WouldInfo describes a refusal or an approval request that nets in shadow mode would have
// caused, and counts the affected calls.
type WouldInfo = admission.Would

// A ShadowNet describes the state of a net in shadow mode in a session.
type ShadowNet struct {
	Session string `json:"session"`
	Net     string `json:"net"`
	Actual  string `json:"actual"` // actual marking, which also reflects calls that a net in shadow mode would have refused
	NetShadow
}

// A NetShadow compares the state of a net in shadow mode with the state that it would have if it
// were enforced.
type NetShadow struct {
	Enforced string `json:"enforced"` // marking that the net would have if it were enforced
	Parted   bool   `json:"parted"`   // whether Enforced differs from the actual marking
	Refused  int    `json:"refused"`  // number of calls that the net would have refused
	Asked    int    `json:"asked"`    // number of calls that would have required an approval
}
