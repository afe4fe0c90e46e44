// An event source made with Node's http: chunked, by length, up to the end of the connection, compressed, or none.
'use strict';
const http = require('http');
const zlib = require('zlib');

const events = 'retry: 10\n\nid: 1\ndata: one\ndata: more\n\n:\n\ndata: \u00fcber\n\n';
const head = { 'Content-Type': 'text/event-stream' };
const routes = {
    '/chunked': (response) => {
        response.writeHead(200, head);
        for (const letter of events)
            response.write(letter);
        response.end();
    },
    '/length': (response) => {
        response.writeHead(200, { ...head, 'Content-Length': Buffer.byteLength(events) });
        response.end(events);
    },
    '/close': (response) => {
        response.useChunkedEncodingByDefault = false;
        response.writeHead(200, { ...head, Connection: 'close' });
        response.end(events);
    },
    '/gzip': (response) => {
        response.writeHead(200, { ...head, 'Content-Encoding': 'gzip' });
        const gzip = zlib.createGzip();
        gzip.pipe(response);
        gzip.write(events);
        gzip.flush(() => gzip.end());
    },
};
const server = http.createServer((request, response) => {
    const route = routes[request.url];
    if (route) return route(response);
    response.writeHead(404);
    response.end('none\n');
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
