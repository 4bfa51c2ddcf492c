// What tests do to etcd behind the API server's back, through the JSON gateway that etcd itself serves.

/** Trouble that only etcd can make. */
export interface Etcd {
  /** The names of the members, once it serves. */
  members(): Promise<string[]>;
  /** Forgets all history up to now. */
  compact(): Promise<void>;
  /** `ACTIVATE`: etcd refuses writes as if its quota were used up. `DEACTIVATE`: it takes them again. */
  outOfSpace(action: 'ACTIVATE' | 'DEACTIVATE'): Promise<void>;
}

interface Header {
  header: { revision?: string; member_id?: string };
  members?: { name: string }[];
}

/** The etcd at this address. */
export function etcdAt(url: string): Etcd {
  const post = async (path: string, body: unknown): Promise<Header> => {
    const answer = await fetch(`${url}/v3/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    if (!answer.ok) throw new Error(`etcd answered ${path} with ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Header;
  };
  return {
    async members() {
      const { members = [] } = await post('cluster/member/list', {});
      return members.map(({ name }) => name);
    },
    async compact() {
      const { header } = await post('maintenance/status', {});
      await post('kv/compaction', { revision: header.revision, physical: true });
    },
    async outOfSpace(action) {
      const { header } = await post('maintenance/status', {});
      await post('maintenance/alarm', { action, memberID: header.member_id, alarm: 'NOSPACE' });
    },
  };
}
