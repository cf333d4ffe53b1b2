package statecode_test

import (
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

func ExampleCodec() {
	p, err := ruled("limit push to 3 per session\nrequire test before push")
	if err != nil {
		panic(err)
	}
	c, s := statecode.New(p, nil), p.NewState(nil)
	_, delta := p.Decide(s, gate.Call{ID: "7", Tool: "test", Time: time.Unix(1795435200, 0)}, nil)
	s.Apply(delta)
	data, err := c.AppendSession(nil, s, statecode.Info{Principal: "ann", Since: time.Unix(1795435100, 0), Owner: 5}, statecode.Processes{})
	fmt.Println(string(data), err)

	l, err := c.Session("s", data, nil)
	fmt.Println(l.Info.Principal, l.State.Open()[0].Tool, err)
	_, err = c.Session("s", append(data, '}'), nil)
	fmt.Println(err)
	// Output:
	// {"v":1,"policy":"6639c1cacde27b87d1ab6995c66e8020","principal":"ann","since":1795435100,"owner":5,"last":1,"nets":{"require-test-before-push":{"print":"0eae5b59c2b8221ea95a34fc97e0aa96","watches":[["do-test",1,"test",1795435200,0]]}},"calls":[{"number":1,"id":"7","tool":"test","time":1795435200,"nets":["require-test-before-push"]}]} <nil>
	// ann test <nil>
	// session "s": invalid JSON: offset 334: unexpected "}", want the end of the document
}
