"""Query parameters that change no page, and are dropped on every site: visits and campaigns."""

from __future__ import annotations

from functools import lru_cache

#: Query parameters about where a visitor came from, not about the page. A name that ends in * is a
#: prefix. Lower case.
TRACKING = frozenset(
    """
    utm_* mtm_* pk_* hsa_* gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid fbclid
    msclkid yclid ysclid _openstat twclid ttclid li_fat_id igshid igsh epik srsltid mc_cid
    mc_eid _ga _gl _gac _hsenc _hsmi __hstc __hssc __hsfp hsctatracking mkt_tok vero_id
    vero_conv oly_anon_id oly_enc_id rb_clickid s_cid s_kwcid ef_id wickedid irclickid irgwc
    cjevent sscid zanpid ranmid raneaid ransiteid awc aff_id affid aff_sub ref_src _pos _sid
    _ss _psq _fid _kx pr_prod_strat pr_rec_id pr_rec_pid pr_ref_pid pr_seq spm scm ncid
    cmpid campaign_id trk trkcampaign elqtrackid elqtrack _branch_match_id wt_mc wt_zmc
    adj_t adjust_tracker _bta_tid _bta_c
    """.split()  # noqa: SIM905  # a table of words reads best as one
)
#: Parameters that identify a visit; a new value on every visit would make the shop endless.
SESSION = frozenset(
    """
    phpsessid jsessionid aspsessionid* sessionid session_id sess_id oscsid zenid cfid
    cftoken xtcsid mmcsid emossid ___sid force_sid
    """.split()  # noqa: SIM905  # a table of words reads best as one
)


def _is_listed(name: str, names: frozenset[str]) -> bool:
    """Whether a name is among names, or begins as one that ends in * does."""
    return name in names or any(n[-1:] == "*" and name.startswith(n[:-1]) for n in names)


@lru_cache(maxsize=1024)
def is_noise(name: str) -> bool:
    """Whether a parameter of this name is dropped on every site."""
    name = name.lower()
    return _is_listed(name, TRACKING) or _is_listed(name, SESSION)
