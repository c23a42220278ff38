// Who looks at the pages, and what they may do: buttons that the server would refuse say why they are off.

const RANK = { VIEWER: 0, OPERATOR: 1, ADMIN: 2 };

let known = {};

export const session = {
  /** Keeps what the server says about the caller. */
  set(me) {
    known = me ?? {};
  },

  /** The name of the store and other facts of the process that serves the pages. */
  get facts() {
    return known;
  },

  /** Why an action is off, or null if it is allowed. */
  refusal(role = 'OPERATOR') {
    const mine = String(known.role ?? 'VIEWER').toUpperCase();
    return (RANK[mine] ?? 0) >= RANK[role] ? null
      : `Actions need a token, or a user, with the role ${role}. The address that a server of its own prints carries a token after #.`;
  },
};
