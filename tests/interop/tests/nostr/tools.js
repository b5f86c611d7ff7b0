// Calls nostr-tools: each input line {"do": name, "with": argument} calls a function of `ask`, and is
// answered by one line, {"ok": value} or {"error": message}.
'use strict';
const path = require('path');

const pure = require('nostr-tools/pure');
const filter = require('nostr-tools/filter');
const nip04 = require('nostr-tools/nip04');
const nip13 = require('nostr-tools/nip13');
const nip17 = require('nostr-tools/nip17');
const nip19 = require('nostr-tools/nip19');
const nip21 = require('nostr-tools/nip21');
const nip44 = require('nostr-tools/nip44');
const nip59 = require('nostr-tools/nip59');
const { SimplePool, useWebSocketImplementation } = require('nostr-tools/pool');
const { Relay, useWebSocketImplementation: useInRelay } = require('nostr-tools/relay');
const { AbstractRelay } = require('nostr-tools/abstract-relay');
// Part of the package, but not exported.
const nip77 = require(path.join(path.dirname(require.resolve('nostr-tools')), 'nip77.js'));

useWebSocketImplementation(require('ws'));
useInRelay(require('ws'));

const bytes = (hex) => Uint8Array.from(Buffer.from(hex, 'hex'));
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Signs answers to challenges. Without a key, returns undefined.
const signer = (secret) => secret && (async (template) => pure.finalizeEvent(template, bytes(secret)));

// A WebSocket without a network: records sent messages, and receives the given ones.
function fakeSocket() {
    const sent = [];
    class Fake {
        static OPEN = 1;
        static CLOSING = 2;
        static CLOSED = 3;
        readyState = 1;
        constructor() {
            Fake.last = this;
            setTimeout(() => this.onopen());
        }
        send(text) {
            sent.push(text);
        }
        close() {}
    }
    return { Fake, sent, receive: (data) => Fake.last.onmessage({ data }) };
}

const sessions = [];

const ask = {
    version: () => JSON.parse(require('fs').readFileSync(
        path.join(path.dirname(require.resolve('nostr-tools')), '../../package.json'))).version,

    // Parses an event, and checks whether it is authentic.
    read(text) {
        const event = JSON.parse(text);
        return {
            valid: pure.verifyEvent(event),
            id: pure.getEventHash(event),
            canonical: pure.serializeEvent(event),
            kind: event.kind,
            created_at: event.created_at,
            tags: event.tags,
            content: event.content,
        };
    },

    // Signs an event. If given, `units` are the UTF-16 code units of the content.
    sign({ secret, kind, created_at, tags, content, units }) {
        if (units) content = String.fromCharCode(...units);
        return JSON.stringify(pure.finalizeEvent({ kind, created_at, tags, content }, bytes(secret)));
    },

    // For each filter, whether each event matches.
    matches: ({ filters, events }) => {
        events = events.map((text) => JSON.parse(text));
        return filters.map((text) => events.map((event) => filter.matchFilter(JSON.parse(text), event)));
    },
    rewrite: (text) => JSON.stringify(JSON.parse(text)),

    // Returns the messages that its client sends.
    async sends({ subscription, filters, event, secret, challenge }) {
        const { Fake, sent, receive } = fakeSocket();
        const relay = new AbstractRelay('ws://relay.example', {
            verifyEvent: pure.verifyEvent, websocketImplementation: Fake,
        });
        await relay.connect();
        const subscribed = relay.subscribe(filters, { id: subscription, onevent() {} });
        relay.publish(JSON.parse(event)).catch(() => {});
        relay.count(filters, { id: subscription }).catch(() => {});
        await pause(0);
        receive(JSON.stringify(['AUTH', challenge]));
        relay.auth(async (template) => pure.finalizeEvent(template, bytes(secret))).catch(() => {});
        await pause(0);
        subscribed.close();
        await pause(0);
        relay.close();
        return sent;
    },

    // Passes the messages of a relay to its client, and returns the callbacks. The client has subscribed
    // to all events as `subscription`, published the events with the ids `published`, and sent COUNT with
    // the id "count".
    async receives({ subscription, published, messages }) {
        const { Fake, receive } = fakeSocket();
        const relay = new AbstractRelay('ws://relay.example', {
            verifyEvent: pure.verifyEvent, websocketImplementation: Fake,
        });
        const received = [];
        const note = (...what) => received.push(what);
        await relay.connect();
        relay.onnotice = (text) => note('notice', text);
        relay.onauth = async (template) => {
            note('auth', template.tags.find(([name]) => name === 'challenge')[1]);
            throw new Error('not signed');
        };
        relay.subscribe([{}], {
            id: subscription,
            onevent: (event) => note('event', event.id, event.content),
            oninvalidevent: (event) => note('invalid', event.id),
            oneose: () => note('eose'),
            onclose: (reason) => note('closed', reason),
        });
        for (const id of published) {
            relay.publish({ id }).then((text) => note('ok', id, text), (error) => note('rejected', id, error.message));
        }
        relay.countWithHLL([{}], { id: 'count' }).then((count) => note('count', count), () => {});
        const warn = console.warn;
        console.warn = () => {};
        for (const message of messages) {
            receive(message);
            await pause(0);
        }
        console.warn = warn;
        return received;
    },

    // NIP-19 entities.
    encode({ type, data }) {
        if (type === 'nsec') return nip19.nsecEncode(bytes(data));
        return nip19[type + 'Encode'](data);
    },
    decode(name) {
        const { type, data } = nip19.decode(name);
        return { type, data: type === 'nsec' ? hex(data) : data };
    },
    uri: (uri) => {
        const { value, decoded } = nip21.parse(uri);
        return { value, type: decoded.type };
    },

    // Encryption.
    conversation_key: ({ secret, pubkey }) => hex(nip44.getConversationKey(bytes(secret), pubkey)),
    encrypt44: ({ key, nonce, text }) => nip44.encrypt(text, bytes(key), nonce && bytes(nonce)),
    decrypt44: ({ key, payload }) => nip44.decrypt(payload, bytes(key)),
    encrypt04: ({ secret, pubkey, text }) => nip04.encrypt(secret, pubkey, text),
    decrypt04: ({ secret, pubkey, payload }) => nip04.decrypt(secret, pubkey, payload),

    // Gift wraps.
    wrap: ({ rumor, secret, pubkey }) => JSON.stringify(nip59.wrapEvent(rumor, bytes(secret), pubkey)),
    unwrap: ({ wrap, secret }) => nip59.unwrapEvent(JSON.parse(wrap), bytes(secret)),
    chat: ({ secret, receivers, text, subject, reply }) => nip17.wrapManyEvents(
        bytes(secret), receivers.map((publicKey) => ({ publicKey })), text, subject, { eventId: reply },
    ).map((event) => JSON.stringify(event)),

    // Proof of work.
    difficulty: (id) => nip13.getPow(id),
    mine({ secret, target, kind, content }) {
        const pubkey = pure.getPublicKey(bytes(secret));
        const mined = nip13.minePow({ pubkey, kind, content, created_at: 0, tags: [] }, target);
        return JSON.stringify(pure.finalizeEvent(mined, bytes(secret)));
    },

    // Reconciliation. A session is identified by a number.
    reconciler({ records, frame }) {
        const storage = new nip77.NegentropyStorageVector();
        for (const [time, id] of records) storage.insert(time, id);
        storage.seal();
        return sessions.push(new nip77.Negentropy(storage, frame)) - 1;
    },
    initiate: (session) => sessions[session].initiate(),
    reconcile({ session, message }) {
        const have = [], need = [];
        const next = sessions[session].reconcile(message, (id) => have.push(id), (id) => need.push(id));
        return { next, have, need };
    },

    // Its pool with a relay. If given, `secret` signs answers to challenges.
    async publish({ url, events, secret }) {
        const pool = new SimplePool();
        const answers = [];
        for (const event of events) {
            const [answer] = pool.publish([url], JSON.parse(event), { onauth: signer(secret) });
            answers.push(await answer.catch((error) => ({ rejected: error.message })));
        }
        pool.destroy();
        return answers;
    },
    async query({ url, filter }) {
        const pool = new SimplePool();
        const events = await pool.querySync([url], filter);
        pool.destroy();
        return events.map((event) => JSON.stringify(event));
    },
    // Subscribes, publishes an event after EOSE, and returns all events and the close reason.
    async live({ url, filter, event, secret }) {
        const pool = new SimplePool();
        const received = [], last = JSON.stringify(JSON.parse(event));
        const ended = await new Promise((end) => {
            const subscription = pool.subscribe([url], filter, {
                onauth: signer(secret),
                onevent(event) {
                    received.push(JSON.stringify(event));
                    if (received.at(-1) === last) subscription.close('received');
                },
                oneose() {
                    received.push('eose');
                    pool.publish([url], JSON.parse(event), { onauth: signer(secret) })[0].catch(end);
                },
                onclose: (reasons) => end(reasons.map(({ reason }) => reason)),
            });
            setTimeout(() => end('too late'), 20000);
        });
        pool.destroy();
        return { received, ended };
    },
    async count({ url, filters }) {
        const relay = await Relay.connect(url);
        const count = await relay.count(filters, {});
        relay.close();
        return count;
    },
    // Reconciles records with a relay.
    async synchronize({ url, filter, records }) {
        const relay = await Relay.connect(url);
        const storage = new nip77.NegentropyStorageVector();
        for (const [time, id] of records) storage.insert(time, id);
        storage.seal();
        const have = [], need = [];
        const reason = await new Promise((done) => new nip77.NegentropySync(relay, storage, filter, {
            onhave: (id) => have.push(id),
            onneed: (id) => need.push(id),
            onclose: (reason) => done(reason ?? null),
        }).start());
        relay.close();
        return { have, need, reason };
    },
};

// `readline` also ends lines at U+2028, which JSON need not escape.
async function* lines(input) {
    let rest = '';
    for await (const piece of input.setEncoding('utf8')) {
        const parts = piece.split('\n');
        parts[0] = rest + parts[0];
        rest = parts.pop();
        yield* parts;
    }
}

(async () => {
    for await (const line of lines(process.stdin)) {
        let answer;
        try {
            const question = JSON.parse(line);
            answer = { ok: (await ask[question.do](question.with)) ?? null };
        } catch (error) {
            answer = { error: String(error?.message ?? error) };
        }
        process.stdout.write(JSON.stringify(answer) + '\n');
    }
})();
