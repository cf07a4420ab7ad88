package engine

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolroom/tool"
)

// Every line is a kind of body that tries to outlive its budget, and the code it must get.
func TestBudgets(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes under the race detector: run without -short")
	}
	e := newEngine(t)
	for name, c := range map[string]struct {
		body string
		want []tool.Code
	}{
		"loop":                      {"for(;;);", codes(tool.Timeout)},
		"loop in catch":             {"for(;;){try{for(;;);}catch{}}", codes(tool.Timeout)},
		"loop in finally":           {"try{return 1}finally{for(;;);}", codes(tool.Timeout)},
		"loop in async catch":       {"async function f(){for(;;);} for(;;){try{await f()}catch{}}", codes(tool.Timeout)},
		"loop in toJSON":            {"return {toJSON(){for(;;);}}", codes(tool.Timeout)},
		"loop in getter":            {"return {get a(){for(;;);}}", codes(tool.Timeout)},
		"loop in proxy":             {"return new Proxy({},{ownKeys(){for(;;);}})", codes(tool.Timeout)},
		"loop in thrown getter":     {"throw {get message(){for(;;);}}", codes(tool.Timeout, tool.CallFailed)},
		"loop in error message":     {"const e=new Error('x'); Object.defineProperty(e,'message',{get(){for(;;);}}); throw e", codes(tool.Timeout)},
		"loop in logged proxy":      {"console.log(new Proxy({},{ownKeys(){for(;;);}})); return 1", codes(tool.Timeout)},
		"loop in a timer":           {"setTimeout(()=>{for(;;);}); await new Promise(r=>setTimeout(r,50)); return 1", codes(tool.Timeout)},
		"microtasks":                {"for(;;) await null", codes(tool.Timeout)},
		"microtasks by then":        {"const again=()=>Promise.resolve().then(again); again(); await new Promise(r=>setTimeout(r,10)); return 1", codes(tool.Timeout)},
		"never settles":             {"await new Promise(()=>{})", codes(tool.Timeout)},
		"interval":                  {"setInterval(()=>{},0); await new Promise(()=>{})", codes(tool.Timeout)},
		"exploding pattern":         {"return /^(a+)+$/.test('a'.repeat(40)+'!')", codes(tool.Timeout, tool.CallFailed)},
		"hoards strings":            {"const c=[];for(;;)c.push('x'.repeat(1048576)+c.length)", codes(tool.MemoryExceeded)},
		"hoards and catches":        {"const c=[];for(;;){try{c.push(new Array(1e6).fill(c.length))}catch{c.length=Math.max(0,c.length-1)}}", codes(tool.MemoryExceeded)},
		"hoards buffers":            {"const c=[];for(;;)c.push(new Uint8Array(8<<20).fill(1))", codes(tool.MemoryExceeded)},
		"hoards objects":            {"const c=[];for(let i=0;;i++)c.push({i,a:[i]})", codes(tool.MemoryExceeded)},
		"hoards closures":           {"let f=()=>0;for(;;){const g=f;f=()=>g}", codes(tool.MemoryExceeded)},
		"hoards promises":           {"const c=[];for(;;)c.push(new Promise(()=>{}))", codes(tool.MemoryExceeded)},
		"hoards map":                {"const m=new Map();for(let i=0;;i++)m.set(i,'v'+i)", codes(tool.MemoryExceeded)},
		"doubles a string":          {"let s='ab';for(;;)s+=s", codes(tool.MemoryExceeded, tool.CallFailed)},
		"huge spread":               {"return [...'.'.repeat(500000000)].length", codes(tool.MemoryExceeded, tool.CallFailed)},
		"huge bigint":               {"let n=2n;for(;;)n=n*n", codes(tool.MemoryExceeded, tool.CallFailed, tool.Timeout)},
		"recursion":                 {"function f(){return f()+1} return f()", codes(tool.CallFailed)},
		"recursion through JSON":    {"let o={};for(let i=0;i<1e5;i++)o={o};return JSON.stringify(o).length", codes(tool.CallFailed)},
		"recursion in the parser":   {"return eval('['.repeat(1e6)+']'.repeat(1e6))", codes(tool.CallFailed)},
		"recursion in JSON.parse":   {"return JSON.parse('['.repeat(1e6)+']'.repeat(1e6)).length", codes(tool.CallFailed)},
		"recursion in a pattern":    {"return new RegExp('('.repeat(1e5)+')'.repeat(1e5)).test('')", codes(tool.CallFailed)},
		"recursion in the result":   {"let o={};for(let i=0;i<1e5;i++)o={o};return o", codes(tool.ResultNotJSON)},
		"result of NULs":            {"return '\\0'.repeat(300000)", codes(tool.ResultTooLarge)},
		"result of 20 MB":           {"return 'x'.repeat(20<<20)", codes(tool.ResultTooLarge)},
		"result of a huge array":    {"return new Array(1e9)", codes(tool.ResultTooLarge)},
		"result as a rope":          {"let s='x'.repeat(5<<20);return s+s+s", codes(tool.ResultTooLarge)},
		"log of 100 MB":             {"for(let i=0;i<100;i++)console.log('y'.repeat(1e6));throw 1", codes(tool.CallFailed, tool.MemoryExceeded)},
		"frames without stack room": {"const o={toString(){return ''+o}};return ''+o", codes(tool.CallFailed)},
	} {
		t.Run(name, func(t *testing.T) {
			h := &noHost{}
			start := time.Now()
			limit := time.Minute // for what must end by another budget
			if c.want[0] == tool.Timeout {
				limit = 400 * time.Millisecond
			}
			_, meta := h.callFor(t, e, c.body, "{}", limit)
			if took := time.Since(start); c.want[0] == tool.Timeout && took > limit+2*time.Second {
				t.Errorf("took %v", took)
			}
			if meta.Error == nil || !contains(c.want, meta.Error.Code) {
				t.Fatalf("got %+v, want %v", meta.Error, c.want)
			}
			if meta.Peak > 128<<20 {
				t.Errorf("%d bytes in use, over the cap", meta.Peak)
			}
			if out, meta := h.call(t, e, "return [typeof leak, [1].map(x => x + 1)]", "{}"); out != `["undefined",[2]]` {
				t.Fatalf("the next call got %s %+v", out, meta.Error)
			}
		})
	}
	if rss := residentMB(t); rss > 4*(128+64)+64 {
		t.Errorf("%d MB resident after all", rss)
	}
}

func codes(c ...tool.Code) []tool.Code { return c }

func contains(list []tool.Code, c tool.Code) bool {
	for _, l := range list {
		if l == c {
			return true
		}
	}
	return false
}

// residentMB is this process's resident memory in MiB; 0 where there is no /proc.
func residentMB(t *testing.T) int {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Log("no /proc: resident memory is not checked")
		return 0
	}
	pages, _ := strconv.Atoi(strings.Fields(string(b))[1])
	return pages * os.Getpagesize() >> 20
}
