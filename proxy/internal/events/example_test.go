package events_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/petrigate/petrigate/proxy/internal/events"
)

// A single answer is sent as one object. If a message precedes it, both are sent as events.
func ExamplePost() {
	for _, words := range []int{0, 1} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil)
		s := events.NewPost(w, events.PostOptions{Method: "tools/call", Accept: "application/json, text/event-stream"})
		for range words {
			s.Send([]byte(`{"method":"notifications/progress"}`))
		}
		s.Reply([]byte(`{"id":1,`), []byte(`"result":{}}`))
		s.Finish(r)
		fmt.Printf("%s\n%s\n", w.Header().Get("Content-Type"), w.Body)
	}
	// Output:
	// application/json
	// {"id":1,"result":{}}
	// text/event-stream
	// event: message
	// data: {"method":"notifications/progress"}
	//
	// event: message
	// data: {"id":1,"result":{}}
}
