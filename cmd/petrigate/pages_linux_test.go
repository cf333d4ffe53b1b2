package main

import (
	"reflect"
	"strings"
	"testing"
)

func TestDropProgramPages(t *testing.T) {
	if dropProgramPages() == 0 {
		t.Error("no page of the program was dropped, and at least this test was read from one")
	}
	if dropProgramPages() == 0 { // what runs is mapped again
		t.Error("no page of the program was dropped the second time")
	}
}

func TestCleanMappings(t *testing.T) {
	const smaps = `00400000-00600000 r-xp 00000000 fe:00 247278    /usr/local/bin/petri gate
Rss:                 512 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
00600000-00800000 r-xp 00200000 fe:00 247278    /usr/local/bin/petri gate
Rss:                 512 kB
Private_Dirty:         4 kB
Anonymous:             4 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
00800000-00a00000 r--p 00400000 fe:00 247278    /usr/local/bin/petri gate
Rss:                 100 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
Swap:                  4 kB
VmFlags: rd mr mw me
00a00000-00b00000 r--p 00600000 fe:00 247278    /usr/local/bin/petri gate
Rss:                 300 kB
Private_Dirty:       300 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd mr mw me
00b00000-00c00000 rw-p 00700000 fe:00 247278    /usr/local/bin/petri gate
Rss:                 200 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd wr mr mw me
00c00000-00d00000 r--s 00700000 fe:00 247278    /usr/local/bin/petri gate
Rss:                 200 kB
VmFlags: rd mr me
7f0000000000-7f0000100000 r-xp 00000000 fe:00 99    /usr/lib/libc.so.6
Rss:                 700 kB
VmFlags: rd ex mr mw me
7ff000000000-7ff000100000 r--p 00000000 00:00 0
Rss:                 700 kB
VmFlags: rd mr mw me
`
	want := []mapping{
		{start: 0x400000, end: 0x600000, resident: 512 << 10, clean: true},
		{start: 0xa00000, end: 0xb00000, resident: 300 << 10, clean: true},
	}
	if got := cleanMappings(strings.NewReader(smaps), "/usr/local/bin/petri gate"); !reflect.DeepEqual(got, want) {
		t.Errorf("the clean mappings are\n%+v, want\n%+v", got, want)
	}
}
