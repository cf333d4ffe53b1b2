package approval_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/approval"
)

func Example() {
	book := approval.New(approval.Options{Expire: 15 * time.Minute, Channels: []string{approval.CLI}, Now: time.Now})
	call := approval.Call{Upstream: "git", Tool: "push", Arguments: []byte(`{"force":true}`), Size: 14, SHA256: "5f3c"}
	ask := &gate.Ask{Steps: []gate.Step{{Net: "pushes", Transition: "push", Reason: "push requires human approval"}}}
	q, err := book.Open(approval.Key{Tool: "git.push", Arguments: call.SHA256}, call, ask)
	if err != nil {
		panic(err)
	}
	text := book.Look(q).Text(gate.Position.String, q.Created)
	fmt.Println(strings.ReplaceAll(text, q.ID, "ap_EXAMPLE"))

	fmt.Println(book.Answer(q.ID, true, "cli", "ann", "") == nil)
	fmt.Println(book.Claim(q.ID)) // the call is about to be admitted
	book.Consume(q.ID)            // it has been admitted
	fmt.Println(book.Claim(q.ID))
	// Output:
	// Allow push on upstream git?
	// Required by the policy: push requires human approval (fires push in net pushes)
	// Arguments (14 bytes, sha256 5f3c):
	//   {
	//     "force": true
	//   }
	// Approval ap_EXAMPLE, good for 15m.
	// true
	// <nil>
	// the approval was used already, or has expired
}
