"""The papers' pseudo-code, line by line: slow, plain, and what the fast versions must agree with.

Each takes one face a person (n, d) and the order in which faces trigger, and gives the clusters in the order in which
they are formed. Faces at equal distance: the first in the array. Where the print is silent or double, what is done is
said beside the line.
"""

from typing import NamedTuple

import numpy as np


class Group(NamedTuple):
    members: list  # numbers of the faces, in the order in which they came
    core: list  # the members of which the centre is the mean
    donor: int  # the group whose centre its members get


def squares(faces, centre):
    return ((faces - centre) ** 2).sum(axis=1)


def closest(faces, M, centre):
    return M[squares(faces[M], centre).argmin()]


def closest_few(faces, M, centre, few):
    return list(M[squares(faces[M], centre).argsort(kind="stable")[:few]])


def furthest(faces, M, centre):
    return M[squares(faces[M], centre).argmax()]


def without(M, face):
    return M[face != M]


def dist(a, b):
    return np.sqrt(((a - b) ** 2).sum())


def centre_of(faces, C):
    return faces[C].mean(axis=0)


def radius_of(faces, C):
    """The largest distance of a member to the centre: the paper does not say, its proof needs this one."""
    return np.sqrt(squares(faces[C], centre_of(faces, C)).max())


def overlap(faces, Cc, Cf):
    """The two sides of the overlap test: the distance of the centres, and the sum of the radii."""
    return dist(centre_of(faces, Cc), centre_of(faces, Cf)), radius_of(faces, Cc) + radius_of(faces, Cf)


def k_same_m(faces, k, order):
    """k-Same (Newton) on model coefficients: the trigger and the k - 1 faces closest to it."""
    M, groups = np.arange(len(faces)), []
    for face in order:
        if face not in M:
            continue
        M = without(M, face)
        wanted = k if len(M) + 1 >= 2 * k else len(M) + 1  # fewer than 2k left form one cluster
        C = [face, *closest_few(faces, M, faces[face], wanted - 1)]
        M = M[~np.isin(M, C)]
        groups.append(Group(C, C, len(groups)))
    return groups


def k_same_furthest(faces, k, order):
    """Paper 003, figure 2."""
    M, groups = np.arange(len(faces)), []  # 1, 2
    for face in order:  # 3
        if face not in M:
            continue
        if len(M) >= 2 * k:  # 4
            Cc = [face]  # 5, 6
            M = without(M, face)
            f1 = furthest(faces, M, faces[face])  # 7
            Cf = [f1]  # 8, 9
            M = without(M, f1)
            while len(Cc) < k and len(Cf) < k:  # 10
                f = closest(faces, M, centre_of(faces, Cf))  # 11
                Cf.append(f)  # 12, 13
                apart, reach = overlap(faces, Cc, Cf)
                if apart <= reach:  # 14
                    Cf.remove(f)  # 15, 16: the one just added goes back, Cc keeps what it has
                    break  # 17
                M = without(M, f)  # 19
                c = closest(faces, M, centre_of(faces, Cc))  # 20
                Cc.append(c)  # 21, 22
                apart, reach = overlap(faces, Cc, Cf)
                if apart <= reach:  # 23
                    Cc.remove(c)  # 24, 25
                    break  # 26
                M = without(M, c)  # 28
            core_c, core_f = list(Cc), list(Cf)  # the faces that fill up do not move the centres
            if len(Cf) < k:  # 30 to 33: the far cluster first
                Cf += closest_few(faces, M, centre_of(faces, core_f), k - len(Cf))
                M = M[~np.isin(M, Cf)]
            if len(Cc) < k:  # 34 to 37
                Cc += closest_few(faces, M, centre_of(faces, core_c), k - len(Cc))
                M = M[~np.isin(M, Cc)]
            near, far = len(groups), len(groups) + 1
            groups += [Group(Cc, core_c, far), Group(Cf, core_f, near)]  # 38, 39
        else:  # 40
            M = without(M, face)
            to_c, to_f = (squares(faces[[face]], centre_of(faces, core))[0] for core in (core_c, core_f))
            if to_f > to_c:  # 41
                groups[near].members.append(face)  # 42: gets the far centre, as all of Cc do
            else:  # 43
                groups[far].members.append(face)  # 44
    return groups


def k_diff_furthest(faces, k, order, singles):
    """Paper 000, figure 2; also the faces that joined by lines 23 to 29."""
    M, groups, joined = np.arange(len(faces)), [], []  # 1, 2
    for face in order:  # 3
        if face not in M:
            continue
        M = without(M, face)
        Cc = [face]  # 4, 5
        f1 = furthest(faces, M, faces[face])  # 6
        M = without(M, f1)
        Cf = [f1]  # 7, 8
        while len(Cc) < k and len(Cf) < k and len(M) >= 2:  # 9, which needs two faces to select
            f = closest(faces, M, centre_of(faces, Cf))  # 10
            Cf.append(f)  # 11
            c = closest(faces, without(M, f), centre_of(faces, Cc))  # 12: from the rest
            Cc.append(c)  # 13
            apart, reach = overlap(faces, Cc, Cf)  # 14
            if apart < reach:  # 15
                Cf.remove(f)  # 16
                Cc.remove(c)  # 17, 18
                break  # 19
            M = without(without(M, f), c)  # 21
        core_c, core_f = list(Cc), list(Cf)
        if len(M) == 1 or (len(M) == 2 and singles == "avoid"):  # 23
            for last in M:
                to_c, to_f = (squares(faces[[last]], centre_of(faces, core))[0] for core in (core_c, core_f))
                (Cf if to_c > to_f else Cc).append(last)  # 24 to 28
                joined.append(last)
            M = M[:0]
        near, far = len(groups), len(groups) + 1
        groups += [Group(Cc, core_c, far), Group(Cf, core_f, near)]  # 30 to 38
    return groups, joined
