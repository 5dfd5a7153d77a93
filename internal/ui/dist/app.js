var D,An,Wt,$e,jt,ft,Pn,pt,En,Zt,zt,Kr,Ye=Symbol.for("pv"),ht={},gt=[],Vr=/^m(i|n|o|s|text|space)$/,Jt=Array.isArray,Kt=gt.slice,De=Object.assign;function Re(e){
e&&e.parentNode&&e.remove()}function Nn(e,n,r){var s,a,o,i={},l=arguments.length;for(o in n)o=="key"?s=n[o]:o=="ref"&&typeof e!="function"?a=n[o]:i[o]=n[o];return l>
2&&(i.children=l>3?Kt.call(arguments,2):r),Xe(e,i,s,a,null)}function Xe(e,n,r,s,a){var o={type:e,props:n,key:r,ref:s,__k:null,__:null,__b:0,__e:null,__c:null,constructor:Ye,__v:a||++An,__i:-1,__u:0};return!a&&D.vnode&&D.
vnode(o),o}function y(e){return e.children}function qe(e,n){this.props=e,this.context=n,this.__g=0}function Ae(e,n){if(n==null)return e.__&&Ae(e.__,e.__i+1);for(var r;n<e.
__k.length;n++)if((r=e.__k[n])&&r.__e)return r.__e;return typeof e.type!="function"||e.props.__P?null:Ae(e)}function Gr(e){var n,r=e.__v,s=r.__e,a=[],o=[],i=e.__P;
i&&((n=De({constructor:Ye},r)).__v=r.__v+1,D.vnode&&D.vnode(n),Vt(i,n,r,e.__n,i.namespaceURI,32&r.__u?[s]:null,a,s||Ae(r),32&r.__u,o),n.__v=r.__v,n.__.__k[n.__i]=
n,Fn(a,n,o),r.__=r.__e=null,n.__e!=s&&Bn(n))}function Bn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(n){return n&&(e.__e=n.__e)}),
Bn(e)}function Sn(e){(8&e.__g||(e.__g|=8,$e.push(e),ft++))&&jt==D.debounceRendering||((jt=D.debounceRendering)||queueMicrotask)(Rn)}function Rn(){try{for(var e,
n=1;$e.length;)$e.length>n&&$e.sort(Pn),e=$e.shift(),n=$e.length,8&e.__g&&Gr(e)}finally{(ft=$e.length)&&(jt||queueMicrotask)(Rn)}}function Dn(e,n,r,s,a,o,i,l,c,d,u){
var p,f,m,g,C,v,w=s.__k||gt,k=n.length;for(c=Xr(r,n,w,c,k),p=0;p<k;p++)(m=r.__k[p])!=null&&(f=~m.__i&&w[m.__i]||ht,m.__i=p,v=Vt(e,m,f,a,o,i,l,c,d,u),g=m.__e,(f.
ref!=m.ref||8&f.__u)&&(f.ref&&Gt(f.ref,null,m,f),m.ref&&u.push(m.ref,m.__c||g,m)),C=C||g,4&m.__u?(c=On(m,c,e,!f.__v),f.__e&&(f.__e=null)):typeof m.type=="functi\
on"&&v!==void 0?c=v:g&&(c=g.nextSibling),m.__u&=-21);return r.__e=C,c}function Xr(e,n,r,s,a){var o,i,l,c,d,u,p,f,m,g=r.length,C=g,v=0,w=0,k=e.__k=Array(a);for(o=
0;o<a;o++)(i=n[o])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=k[o]=Xe(null,i):Jt(i)?i=k[o]=Xe(y,{children:i}):
i.constructor===Ye&&i.__b?i=k[o]=Xe(i.type,i.props,i.key,i.ref,i.__v):k[o]=i,c=o+v,i.__=e,i.__b=e.__b+1,l=null,~(d=i.__i=Yr(i,r,c,C))&&(C--,(l=r[d])&&(l.__u|=2)),
l&&l.__v?(i.__u|=16,d==c-1?v--:d==c+1?v++:d!=c&&(d>c?v--:v++,w=1)):(~d||(a>g?v--:a<g&&v++),typeof i.type!="function"&&(i.__u|=4))):k[o]=null;if(w){for(u=[],p=[],
o=0;o<a;o++)if((i=k[o])&&16&i.__u){for(v=0,f=u.length;v<f;)u[m=v+f>>1]<i.__i?v=m+1:f=m;u[v]=i.__i,p[o]=v+1}for(v=u.length;o--;)p[o]&&(p[o]==v?v--:k[o].__u|=4)}if(C)
for(o=0;o<g;o++)!(l=r[o])||2&l.__u||(l.__e==s&&(s=Ae(l)),Xt(l,l));return s}function On(e,n,r,s){var a,o,i,l;if(typeof e.type=="function"){if(e.props.__P)return n;
if(a=e.__k)for(o=0;o<a.length;o++)a[o]&&(a[o].__=e,n=On(a[o],n,r,!1));return n}for(n&&!n.parentNode&&(n=Ae(e))&&!n.parentNode&&(n=null),i=e.__e,l=n;l&&l.nodeType==
8;)l=l.nextSibling;for(i!=l&&(!s&&r.moveBefore&&i.parentNode?r.moveBefore(i,n):r.insertBefore(i,n||null)),n=i;(n=n&&n.nextSibling)&&n.nodeType==8&&!n.data.startsWith(
"$s"););return n}function Yr(e,n,r,s){var a,o=e.key,i=e.type,l=n[r],c=l&&!(2&l.__u);if(l===null&&o==null||c&&o==l.key&&i==l.type)return r;if(s>(c?1:0)){for(a=r-1;a>=0;a--)if((l=
n[a])&&!(2&l.__u)&&o==l.key&&i==l.type)return a;for(a=r+1;a<n.length;a++)if((l=n[a])&&!(2&l.__u)&&o==l.key&&i==l.type)return a}return-1}function $n(e,n,r){r==null&&
(r=""),n[0]=="-"?e.setProperty(n,r):e[n]=r}function dt(e,n,r,s,a){var o,i;if(n=="style")if(typeof r=="string")e.style.cssText=r;else{if(typeof s=="string"&&(e.style.
cssText=s=""),s)for(n in s)r&&n in r||$n(e.style,n);if(r)for(n in r)s&&r[n]==s[n]||$n(e.style,n,r[n])}else if(n[0]=="o"&&n[1]=="n")typeof r!="function"&&(r=null),
typeof s!="function"&&(s=null),(e.__e||(e.__e={}))[n]=r,r&&s||(i=zt[n]||(zt[n]=Qr(n)),(e.__a||(e.__a={}))[n]=Zt,o=n!=(n=n.replace(En,"$1")),(n=n.slice(2))[0]<"a"&&
(n=n.toLowerCase()),r?e.addEventListener(n,i,o):e.removeEventListener(n,i,o));else{if(a=="http://www.w3.org/2000/svg")n=n.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(n!="width"&&n!="height"&&n!="href"&&n!="list"&&n!="form"&&n!="tabIndex"&&n!="download"&&n!="rowSpan"&&n!="colSpan"&&n!="role"&&n!="popover"&&n in e)
try{return void(e[n]=r??"")}catch{}if(typeof r=="function")return;r==null||r===!1&&n[4]!="-"?e.removeAttribute(n):e.setAttribute(n,n=="popover"&&r==1?"":r)}}function Qr(e){
return function(n){var r=this.__e;if(r){if(r=r[e],n[pt]==null)n[pt]=Zt++;else if(n[pt]<this.__a[e])return;return r(D.event?D.event(n):n)}}}function Vt(e,n,r,s,a,o,i,l,c,d){
var u,p,f,m,g,C,v,w,k,_,T,E,L,Q,K,ie,U,V,S=n.type;if(n.constructor!==Ye)return null;128&r.__u&&(c=32&r.__u,u=r.__c.__z)&&(n.__u|=c,p=o=[],u.nodeType==8?l=mt(u,o):
o.push(u),l=o[0]||l),(u=D.__b)&&u(n);e:if(typeof S=="function"){f=i.length;try{if(w=n.props,k=(u=S.prototype)&&u.render,_=(u=S.contextType)&&s[u.__c],T=u?_?_.props.
value:u.__:s,(m=r.__c)?(n.__c=m,2&m.__g&&(m.__g|=1)):(k?n.__c=m=new S(w,T):(n.__c=m=new qe(w,T),m.constructor=S,m.render=ta),_&&_.sub(m),m.state||(m.state={}),m.
__n=s,m.__g|=8,m.__h=[],m.__k=[]),k&&(m.__s||(m.__s=m.state),S.getDerivedStateFromProps&&(m.__s==m.state&&(m.__s=De({},m.__s)),De(m.__s,S.getDerivedStateFromProps(
w,m.__s)))),g=m.props,C=m.state,m.__v=n,r.__c){if(w!==g&&k&&!S.getDerivedStateFromProps&&m.componentWillReceiveProps&&m.componentWillReceiveProps(w,T),n.__v==r.
__v&&!(8&m.__g)||!(4&m.__g)&&m.shouldComponentUpdate&&m.shouldComponentUpdate(w,m.__s,T)===!1){n.__v!=r.__v&&(m.props=w,m.state=m.__s,m.__g&=-9),n.__e=r.__e,n.__k=
r.__k,n.__k.some(function(b){b&&(b.__=n)}),gt.push.apply(m.__h,m.__k),m.__k=[],m.__h.length&&i.push(m),l=Ae(r);break e}m.componentWillUpdate&&m.componentWillUpdate(
w,m.__s,T),k&&m.componentDidUpdate&&m.__h.push(function(){m.componentDidUpdate(g,C,v)})}else k&&!S.getDerivedStateFromProps&&m.componentWillMount&&m.componentWillMount(),
k&&m.componentDidMount&&m.__h.push(m.componentDidMount);m.context=T,m.props=w,m.__P=e,m.__g&=-5,E=D.__r,L=k?25:0;do m.__g&=-9,E&&E(n),u=m.render(m.props,m.state=
m.__s,m.context);while(8&m.__g&&++L<25);k&&(gt.push.apply(m.__h,m.__k),m.__k=[]),m.state=m.__s,m.getChildContext&&(s=De({},s,m.getChildContext())),k&&r.__c&&m.getSnapshotBeforeUpdate&&
(v=m.getSnapshotBeforeUpdate(g,C)),Q=u&&u.type===y&&u.key==null?u.props.children:u,w.__P&&(u=l,a=(e=w.__P).namespaceURI,c=o=null,r.props&&r.props.__P!=e&&(r.__k.
some(function(b){b&&Xt(b,b)}),r.__k=null),l=r.__k?Ae(r,0):null),l=Dn(e,Jt(Q)?Q:[Q],n,r,s,a,o,i,l,c,d),w.__P&&(n.__e=null,l=u),n.__u&=-161,p&&p.some(Re),m.__h.length&&
i.push(m),1&m.__g&&(m.__g&=-4)}catch(b){if(i.length=f,n.__v=null,c||o)if(b&&b.then){if(n.__u|=128|c,o){for(~(U=o.indexOf(l||void 0))||(U=o.length);(V=o[U-1])&&V.
nodeType==8;)U--;for(;U<o.length;U++)if(V=o[U])if(o[U]=null,K){if(V==ie)break}else{if(V.nodeType!=8)break;V.data.startsWith("$s")&&(ie=mt(K=V))}}if(!K){for(;l&&
l.nodeType==8&&l.nextSibling;)l=l.nextSibling;K=l}(u=mt(K=n.__c.__z||(n.__c.__z=K)))?(n.__e=K,l=u):n.__e=l,l=l&&l.nextSibling}else o&&o.some(Re);else n.__e=r.__e;
n.__k||(n.__k=r.__k||[]),b&&b.then||Ln(n),D.__e(b,n,r)}}else l=n.__e=ea(r.__e,n,r,s,a,o,i,c,d,e);return(u=D.diffed)&&u(n),l}function mt(e,n){if(e&&e.nodeType==8&&
e.data.startsWith("$s"))for(var r=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))r++;else if(e.data.startsWith("/$s")&&!--r)return e}n&&n.push(
e)}}function Ln(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Ln))}function Fn(e,n,r){for(var s=0;s<r.length;)Gt(r[s++],r[s++],r[s++]);D.__c&&D.__c(n,e),e.some(
function(a){try{e=a.__h,a.__h=[],e.some(function(o){o.call(a)})}catch(o){D.__e(o,a.__v)}})}function ea(e,n,r,s,a,o,i,l,c,d){var u,p,f,m,g,C,v,w,k=r.props||ht,_=n.
props,T=n.type;if(T=="svg"?a="http://www.w3.org/2000/svg":T=="math"?a="http://www.w3.org/1998/Math/MathML":a||(a="http://www.w3.org/1999/xhtml"),o){for(u=0;u<o.
length;u++)if((g=o[u])&&(T?g.localName==T:g.nodeType==3)){e=g,o[u]=null;break}}if(!e){if(w=d.ownerDocument||document,!T)return w.createTextNode(_);e=w.createElementNS(
a,T,_.is?_:d),l&&(D.__m&&D.__m(n,o),l=!1),o=null}if(T){if(d=T=="template"&&e.content||e,o=T=="textarea"&&_.defaultValue!=null?null:o&&Kt.call(d.childNodes),!l&&
o)for(k={},u=0;u<e.attributes.length;u++)k[(g=e.attributes[u]).name]=g.value;for(u in k)g=k[u],u=="dangerouslySetInnerHTML"?f=g:u=="children"||u in _||u=="value"&&
"defaultValue"in _||u=="checked"&&"defaultChecked"in _||dt(e,u,null,g,a);for(u in _)g=_[u],u=="children"?m=g:u=="dangerouslySetInnerHTML"?p=g:u=="value"?C=g:u==
"checked"?v=g:l&&typeof g!="function"||k[u]===g||dt(e,u,g,k[u],a);p?(l||f&&(p.__html==f.__html||p.__html==e.innerHTML)||(e.innerHTML=p.__html),n.__k=[]):(f&&(e.
textContent=""),(T=="foreignObject"||a=="http://www.w3.org/1998/Math/MathML"&&Vr.test(T))&&(a="http://www.w3.org/1999/xhtml"),Dn(d,Jt(m)?m:[m],n,r,s,a,o,i,o?o[0]:
r.__k&&Ae(r,0),l,c),o&&o.some(Re)),l&&T!="textarea"||(u="value",T=="progress"&&C==null?e.removeAttribute(u):C==null||C===e[u]&&(T!="progress"||C)||dt(e,u,C,k[u],
a),u="checked",v!=null&&v!=e[u]&&dt(e,u,v,k[u],a))}else k===_||l&&e.data==_||(e.data=_);return e}function Gt(e,n,r,s){try{typeof e=="function"?n?n.__x=e(n)||1:s&&
(s=s.__c||s.__e)&&(n=s.__x)&&(s.__x=null,typeof n=="function"?n():e(null)):e.current=n}catch(a){D.__e(a,r)}}function Xt(e,n,r){var s,a,o,i;if(D.unmount&&D.unmount(
e),!(s=e.ref)||s.current&&s.current!=e.__e||Gt(s,null,n,e),s=e.__c){if(s.componentWillUnmount)try{s.componentWillUnmount()}catch(l){D.__e(l,n)}s.__P=s.__n=null}
if(s=e.__k)for(i=0;i<s.length;i++)s[i]&&Xt(s[i],n,typeof e.type!="function"||r&&!e.props.__P);!r&&(s=e.__c)&&(s=s.__z)&&(a=mt(s,o=[]))&&(s==e.__e&&o.some(Re),Re(
a),Re(s)),r||Re(e.__e),e.__e=e.__c=e.__=null}function ta(e,n,r){return this.constructor(e,r)}function In(e,n){var r,s,a,o;D.__&&D.__(e,n),n.nodeType==9&&(n=n.documentElement),
s=(r=e&&32&e.__u)?null:n.__k,n.__k=Xe(y,{children:[e]}),a=[],o=[],Vt(n,n.__k,s||ht,ht,n.namespaceURI,s?null:n.firstChild?Kt.call(n.childNodes):null,a,s?s.__e:n.
firstChild,r,o),Fn(a,n.__k,o),n.__k.props.children=null}D={__e:function(e,n,r,s){for(var a,o,i;n=n.__;)if((a=n.__c)&&!(1&a.__g)){a.__g|=4;try{if((i=(o=a.constructor)&&o.getDerivedStateFromError)&&a.setState(o.getDerivedStateFromError(
e)),a.componentDidCatch&&(a.componentDidCatch(e,s||{}),i=1),i&&8&a.__g)return void(a.__g|=2)}catch(l){e=l}}throw ft=0,e}},An=0,Wt=function(e){return e!=null&&e.
constructor===Ye},qe.prototype.setState=function(e,n){var r=this.__s;r&&r!=this.state||(r=this.__s=De({},this.state)),typeof e=="function"&&(e=e(De({},r),this.props)),
e&&(De(r,e),this.__v&&(n&&this.__k.push(n),Sn(this)))},qe.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Sn(this))},qe.prototype.render=
y,$e=[],ft=0,Pn=function(e,n){return e.__v.__b-n.__v.__b},pt=Symbol(),En=/(PointerCapture)$|Capture$/i,Zt=0,zt={},Kr=0;var Oe,Z,Yt,Mn,Qt=Object.is,vt=0,Kn=[],en=[],W=D,Un=W.__b,qn=W.__r,Hn=W.diffed,jn=W.__c,zn=W.unmount,Wn=W.__;function et(e,n){W.__h&&W.__h(Z,e,vt||n),vt=0;var r=Z.
__H||(Z.__H={__:[],__h:[]});return e>=r.__.length&&r.__.push({}),r.__[e]}function h(e){return vt=1,na(Vn,e)}function na(e,n,r){var s=et(Oe++,2);if(s.t=e,!s.__c&&
(s.__=[r?r(n):Vn(void 0,n),function(o){var i=(s.__N||s.__)[0],l=s.t(i,o);Qt(i,l)||(s.__N=[l,s.__[1]],s.__c.setState({}))}],s.__c=Z,!Z.__f)){Z.__f=!0;var a=Z.shouldComponentUpdate;
Z.shouldComponentUpdate=function(o,i,l){var c=this.__H;if(!c)return!0;var d=!1,u=this.props!=o;if(c.__.some(function(f){f.__N&&(d=!0,Qt(f.__[0],f.__N[0])||(u=!0))}),
a){var p=a.call(this,o,i,l);return d?p||u:p}return!d||u}}return s.__}function J(e,n){var r=et(Oe++,3);!W.__s&&nn(r.__H,n)&&(r.__P=!0,r.__=e,r.u=n,Z.__H.__h.push(
r))}function _t(e,n){var r=et(Oe++,4);!W.__s&&nn(r.__H,n)&&(r.__P=!1,r.__=e,r.u=n,Z.__h.push(r))}function X(e){return vt=5,yt(function(){return{current:e}},[])}function yt(e,n){var r=et(Oe++,7);return nn(r.__H,n)&&(r.__=e(),r.__H=n),r.__}function tt(){var e=et(Oe++,11);if(!e.__){for(var n=Z.__v;!n.__m&&n.__;)n=n.__;var r=n.__m||(n.__m=[0,0]);e.__="P"+r[0]+"-"+r[1]++}return e.__}function ra(){var e;
do{for(;e=en.shift();)try{Qe(e)}catch(r){W.__e(r,{__:(e=e.__P)&&e.__v})}for(;e=Kn.shift();){var n=e.__H;if(e.__P&&n)try{n.__h.some(Qe),n.__h.some(tn),n.__h=[]}catch(r){
n.__h=[],W.__e(r,e.__v)}}}while(en.length)}W.__b=function(e){Z=null,Un&&Un(e)},W.__=function(e,n){e&&n.__k&&n.__k.__m&&(e.__m=n.__k.__m),Wn&&Wn(e,n)},W.__r=function(e){
qn&&qn(e),Oe=0;var n=(Z=e.__c).__H;n&&(Yt==Z?Z.__h=[]:(n.__h.some(Qe),n.__h.some(tn),Oe=0),n.__h=[],n.__.some(function(r){r.__N&&(r.__=r.__N),r.u=r.__N=void 0})),
Yt=Z},W.diffed=function(e){Hn&&Hn(e);var n=e.__c;n&&n.__H&&(n.__H.__h.length&&Jn(Kn.push(n)),n.__H.__.some(function(r){r.u&&(r.__H=r.u)})),Yt=Z=null},W.__c=function(e,n){
n.some(function(r){try{r.__h.some(Qe),r.__h=r.__h.filter(function(s){return!s.__||tn(s)})}catch(s){r.__h=[function(){throw s}]}}),jn&&jn(e,n)},W.unmount=function(e){
zn&&zn(e);var n,r,s=e.__c;s&&s.__H&&(s.__H.__.some(function(a){try{if(a.__P&&a.__c){if(r===void 0){for(r=e.__;r&&(!r.__c||!r.__c.__P);)r=r.__;r=r&&r.__c}a.__P=r,
Jn(en.push(a))}else Qe(a)}catch(o){n=o}}),s.__H=void 0,n&&W.__e(n,s.__v))};var Zn=typeof requestAnimationFrame=="function";function aa(e){var n,r=function(){clearTimeout(
s),Zn&&cancelAnimationFrame(n),setTimeout(e)},s=setTimeout(r,35);Zn&&(n=requestAnimationFrame(r))}function Jn(e){e!=1&&Mn==W.requestAnimationFrame||((Mn=W.requestAnimationFrame)||
aa)(ra)}function Qe(e){var n=Z,r=e.__c;typeof r=="function"&&(e.__c=void 0,r()),Z=n}function tn(e){var n=Z;e.__c=e.__(),Z=n}function nn(e,n){return!e||e.length!=
n.length||n.some(function(r,s){return!Qt(r,e[s])})}function Vn(e,n){return typeof n=="function"?n(e):n}var sa=Symbol.for("preact-signals");function xt(){if(we>1)we--;else{var e,n=!1;for((function(){var a=kt;for(kt=void 0;a!==void 0;){var o=a.S;if(o.v===a.v)for(var i=o.
t;i!==void 0;i=i.x)i.i===a.i&&(i.i=o.i);a=a.o}})();rt!==void 0;){var r=rt;for(rt=void 0,bt++;r!==void 0;){var s=r.u;if(r.u=void 0,r.f&=-3,!(8&r.f)&&Xn(r))try{r.
c()}catch(a){n||(e=a,n=!0)}r=s}}if(bt=0,we--,n)throw e}}function an(e){if(we>0)return e();rn=++oa,we++;try{return e()}finally{xt()}}var nt,H=void 0;function at(e){
var n=H,r=nt;H=void 0,nt=void 0;try{return e()}finally{H=n,nt=r}}var rt=void 0,we=0,bt=0,oa=0,rn=0,kt=void 0,wt=0;function Gn(e){if(H!==void 0){var n=e.n;if(n===
void 0||n.t!==H)return n={i:0,S:e,p:H.s,n:void 0,t:H,e:void 0,x:void 0,r:n},H.s!==void 0&&(H.s.n=n),H.s=n,e.n=n,32&H.f&&e.S(n),n;if(n.i===-1)return n.i=0,n.n!==
void 0&&(n.n.p=n.p,n.p!==void 0&&(n.p.n=n.n),n.p=H.s,n.n=void 0,H.s.n=n,H.s=n),n}}function ee(e,n){this.v=e,this.i=0,this.n=void 0,this.t=void 0,this.l=0,this.W=
n?.watched,this.Z=n?.unwatched,this.name=n?.name}ee.prototype.brand=sa;ee.prototype.h=function(){return!0};ee.prototype.S=function(e){var n=this,r=this.t;r!==e&&
e.e===void 0&&(e.x=r,this.t=e,r!==void 0?r.e=e:at(function(){var s;(s=n.W)==null||s.call(n)}))};ee.prototype.U=function(e){var n=this;if(this.t!==void 0){var r=e.
e,s=e.x;r!==void 0&&(r.x=s,e.e=void 0),s!==void 0&&(s.e=r,e.x=void 0),e===this.t&&(this.t=s,s===void 0&&at(function(){var a;(a=n.Z)==null||a.call(n)}))}};ee.prototype.
subscribe=function(e){var n=this;return _e(function(){var r=n.value;at(function(){return e(r)})},{name:"sub"})};ee.prototype.valueOf=function(){return this.value};
ee.prototype.toString=function(){return this.value+""};ee.prototype.toJSON=function(){return this.value};ee.prototype.peek=function(){var e=this;return at(function(){
return e.value})};Object.defineProperty(ee.prototype,"value",{get:function(){var e=Gn(this);return e!==void 0&&(e.i=this.i),this.v},set:function(e){if(e!==this.
v){if(bt>100)throw new Error("Cycle detected");(function(r){we!==0&&bt===0&&r.l!==rn&&(r.l=rn,kt={S:r,v:r.v,i:r.i,o:kt})})(this),this.v=e,this.i++,wt++,we++;try{
for(var n=this.t;n!==void 0;n=n.x)n.t.N()}finally{xt()}}}});function se(e,n){return new ee(e,n)}function Xn(e){for(var n=e.s;n!==void 0;n=n.n)if(n.S.i!==n.i||!n.
S.h()||n.S.i!==n.i)return!0;return!1}function Yn(e){for(var n=e.s;n!==void 0;n=n.n){var r=n.S.n;if(r!==void 0&&(n.r=r),n.S.n=n,n.i=-1,n.n===void 0){e.s=n;break}}}
function Qn(e){for(var n=e.s,r=void 0;n!==void 0;){var s=n.p;n.i===-1?(n.S.U(n),s!==void 0&&(s.n=n.n),n.n!==void 0&&(n.n.p=s)):r=n,n.S.n=n.r,n.r!==void 0&&(n.r=
void 0),n=s}e.s=r}function Le(e,n){ee.call(this,void 0,n),this.x=e,this.s=void 0,this.g=wt-1,this.f=4}Le.prototype=new ee;Le.prototype.h=function(){if(this.f&=-3,
1&this.f)return!1;if((36&this.f)==32||(this.f&=-5,this.g===wt))return!0;if(this.g=wt,this.f|=1,this.i>0&&!Xn(this))return this.f&=-2,!0;var e=H;try{Yn(this),H=this;
var n=this.x();(16&this.f||this.v!==n||this.i===0)&&(this.v=n,this.f&=-17,this.i++)}catch(r){this.v=r,this.f|=16,this.i++}return H=e,Qn(this),this.f&=-2,!0};Le.
prototype.S=function(e){if(this.t===void 0){this.f|=36;for(var n=this.s;n!==void 0;n=n.n)n.S.S(n)}ee.prototype.S.call(this,e)};Le.prototype.U=function(e){if(this.
t!==void 0&&(ee.prototype.U.call(this,e),this.t===void 0)){this.f&=-33;for(var n=this.s;n!==void 0;n=n.n)n.S.U(n)}};Le.prototype.N=function(){if(!(2&this.f)){this.
f|=6;for(var e=this.t;e!==void 0;e=e.x)e.t.N()}};Object.defineProperty(Le.prototype,"value",{get:function(){if(1&this.f)throw new Error("Cycle detected");var e=Gn(
this);if(this.h(),e!==void 0&&(e.i=this.i),16&this.f)throw this.v;return this.v}});function Fe(e,n){return new Le(e,n)}function er(e){var n=e.j;if(e.j=void 0,typeof n==
"function"){we++;var r=H;H=void 0;try{n()}catch(s){throw e.f&=-2,e.f|=8,sn(e),s}finally{H=r,xt()}}}function sn(e){for(var n=e.s;n!==void 0;n=n.n)n.S.U(n);e.x=void 0,
e.s=void 0,er(e)}function ia(e){if(H!==this)throw new Error("Out-of-order effect");Qn(this),H=e,this.f&=-2;try{8&this.f&&sn(this)}finally{xt()}}function He(e,n){
this.x=e,this.j=void 0,this.s=void 0,this.u=void 0,this.f=32,this.name=n?.name,nt&&nt.push(this)}He.prototype.c=function(){var e=this.S();try{if(8&this.f||this.
x===void 0)return;var n=this.x();typeof n=="function"&&(this.j=n)}finally{e()}};He.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=
1,this.f&=-9,er(this),Yn(this),we++;var e=H;return H=this,ia.bind(this,e)};He.prototype.N=function(){2&this.f||(this.f|=2,this.u=rt,rt=this)};He.prototype.d=function(){
this.f|=8,1&this.f||sn(this)};He.prototype.dispose=function(){this.d()};function _e(e,n){var r=new He(e,n);try{r.c()}catch(a){throw r.d(),a}var s=r.d.bind(r);return s[Symbol.
dispose]=s,s}var tr,Tt,Ct,la=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var nr=[];_e(function(){tr=this.N})();function je(e,n){D[e]=n.bind(null,D[e]||function(){})}function st(e){if(Ct){var n=Ct;Ct=void 0,n()}Ct=e&&e.S()}function rr(e){
var n=this,r=e.data,s=ua(r);s.name="ReactiveDom",s.value=r;var a=yt(function(){for(var l=n,c=n.__v;c=c.__;)if(c.__c){c.__c.__$f|=4;break}var d=Fe(function(){var m=s.
value.value;return m===0?0:m===!0?"":m||""}),u=Fe(function(){return!Array.isArray(d.value)&&!Wt(d.value)}),p=_e(function(){if(this.N=ar,u.value){var m=d.value;l.
__v&&l.__v.__e&&l.__v.__e.nodeType===3&&(l.__v.__e.data=m)}}),f=n.__$u.d;return n.__$u.d=function(){p(),f.call(this)},[u,d]},[]),o=a[0],i=a[1];return o.value?i.
peek():i.value}rr.displayName="ReactiveTextNode";Object.defineProperties(ee.prototype,{constructor:{configurable:!0,value:Nn(y,null).constructor},type:{configurable:!0,
value:rr},props:{configurable:!0,get:function(){var e=this;return{data:{get value(){return e.value}}}}},__b:{configurable:!0,value:1}});je("__b",function(e,n){if(st(),
Tt=void 0,typeof n.type=="string"){var r,s=n.props;for(var a in s)if(a!=="children"){var o=s[a];o instanceof ee&&(r||(n.__np=r={}),r[a]=o,s[a]=o.peek())}}e(n)});
je("__r",function(e,n){if(e(n),n.type!==y){st();var r,s=n.__c;s&&(s.__$f&=-2,(r=s.__$u)===void 0&&(s.__$u=r=(function(a,o){var i;return _e(function(){i=this},{name:o}),
i.c=a,i})((function(a){return function(){var o;la&&((o=this.y)==null||o.call(this)),a.__$f|=1,a.setState({})}})(s),typeof n.type=="function"?n.type.displayName||
n.type.name:""))),Tt=s,st(r)}});je("__e",function(e,n,r,s){st(),Tt=void 0,e(n,r,s)});je("diffed",function(e,n){st(),Tt=void 0;var r;if(typeof n.type=="string"&&
(r=n.__e)){var s=n.__np,a=n.props,o=r.U;if(o)for(var i in o){var l=o[i];l===void 0||s&&i in s||(l.d(),o[i]=void 0)}if(s){o||(o={},r.U=o);for(var c in s){var d=o[c],
u=s[c];d===void 0?(d=ca(r,c,u,a),o[c]=d):d.o(u,a)}}}e(n)});function ca(e,n,r,s){var a=n in e&&e.ownerSVGElement===void 0,o=se(r);return{o:function(i,l){o.value=
i,s=l},d:_e(function(){this.N=ar;var i=o.value.value;s[n]!==i&&(s[n]=i,a?e[n]=i:i!=null&&(i!==!1||n[4]==="-")?e.setAttribute(n,i):e.removeAttribute(n))})}}je("u\
nmount",function(e,n){if(typeof n.type=="string"){var r=n.__e;if(r){var s=r.U;if(s){r.U=void 0;for(var a in s){var o=s[a];o&&o.d()}}}var i=n.__np;if(i){var l=n.
props;for(var c in i)l[c]=i[c]}n.__np=void 0}else{var d=n.__c;if(d){d.__$f|=8;var u=d.__$u;u&&(d.__$u=void 0,u.d())}}e(n)});je("__h",function(e,n,r,s){s<3&&(n.__$f|=
2),e(n,r,s)});qe.prototype.shouldComponentUpdate=function(e,n){if(this.__R)return!0;var r=this.__$u,s=r&&r.s!==void 0;for(var a in n)return!0;if(this.__f||typeof this.
u=="boolean"&&this.u===!0){var o=2&this.__$f;if(!(s||o||4&this.__$f)||1&this.__$f)return!0}else if(!(s||4&this.__$f)||3&this.__$f)return!0;for(var i in e)if(i!==
"__source"&&e[i]!==this.props[i])return!0;for(var l in this.props)if(!(l in e))return!0;return!1};function ua(e,n){return yt(function(){return se(e,n)},[])}var da=function(e){queueMicrotask(function(){queueMicrotask(e)})};function pa(){an(function(){for(var e;e=nr.shift();)tr.call(e)})}function ar(){nr.push(this)===1&&(D.requestAnimationFrame||da)(pa)}var sr=new URL("../",document.baseURI),on=document.querySelector('meta[name="timerbus"]'),ye={version:on?.content??"",readOnly:on?.dataset.readOnly==="true",hidePayloads:on?.
dataset.hidePayloads==="true"},I=class extends Error{constructor(r,s,a,o={},i=0){super(a);this.status=r;this.code=s;this.details=o;this.retryAfter=i}status;code;details;retryAfter},
ln="timerbus-token",xe=se(sessionStorage.getItem(ln)??""),Ce=se(null),ze=se(null);function St(e){xe.value=e,e?sessionStorage.setItem(ln,e):sessionStorage.removeItem(
ln)}var $t=se(0);async function cn(e,n){let r=new Headers(n.headers);xe.value&&r.set("Authorization",`Bearer ${xe.value}`);let s;try{s=await fetch(new URL(e,sr),
{...n,headers:r,cache:"no-store"})}catch(o){throw n.signal?.aborted?o:new I(0,"UNREACHABLE","The service cannot be reached: it may be stopped, or the network is\
 down.")}let a=Date.parse(s.headers.get("Date")??"");if(!Number.isNaN(a)){let o=a+500-Date.now();$t.value=Math.abs(o)>2e3?o:0}return s}async function or(e){let n=Number(
e.headers.get("Retry-After")??0)||0;try{let r=await e.json();return new I(e.status,r.error,r.message,r.details,n)}catch{return new I(e.status,"HTTP_"+e.status,`\
The server answered ${e.status} ${e.statusText}.`,{},n)}}function ot(e){let{rawJSON:n}=JSON;return n?JSON.parse(e,(s,a,o)=>typeof a=="number"&&o?.source!==void 0&&
o.source.length>15?n(o.source):a):JSON.parse(e)}async function Pe(e,n,r){let s=await cn("api/v1/"+e,{method:"POST",body:JSON.stringify(n),headers:{"Content-Type":"\
application/json"},signal:r??null});if(!s.ok){let o=await or(s);throw o.status===401&&(ze.value=o.message),o}let a=await s.text();return{data:a?ot(a):void 0,late:s.
status===202}}async function R(e,n,r){return(await Pe(e,n,r)).data}async function ir(){return await(await cn("readyz",{})).json()}async function At(){let e=await cn(
"metrics",{});if(!e.ok)throw await or(e);return e.text()}async function Pt(){let e=await R("caller/get",{});Ce.value=e,ze.value=null}function ma(e,n){let r=e.split(
"*").map(s=>s.replace(/[.+?^${}()|[\]\\]/g,"\\$&"));return new RegExp(`^${r.join(".*")}$`,"s").test(n)}function lr(e,n){return Ce.value?.grants.some(r=>r.verbs.
includes(e)&&r.namespaces.some(n))??!1}function le(e,n){return(e==="read"||!ye.readOnly)&&lr(e,r=>ma(r,n))}function We(e){return(e==="read"||!ye.readOnly)&&lr(e,
n=>n==="*")}var cr=sr.href.replace(/\/$/,"");function ur(e){let[n="",r=""]=e.replace(/^#\/?/,"").split("?",2);return{path:n.split("/").filter(Boolean).map(a=>{try{return decodeURIComponent(a)}catch{return a}}),
query:new URLSearchParams(r)}}var te=se(ur(location.hash));addEventListener("hashchange",()=>{te.value=ur(location.hash)});function A(e,n={}){let r=Object.entries(
{ns:$.value,...n}).filter(([,s])=>s);return`#/${e.map(encodeURIComponent).join("/")}?${new URLSearchParams(r)}`}function oe(e,n={}){location.hash=A(e,n)}function ge(e){
let n=Object.fromEntries(te.value.query);delete n.cursor,oe(te.value.path,{...n,...e})}var dr="timerbus-namespace",$=Fe(()=>te.value.query.get("ns")||localStorage.
getItem(dr)||"default");_e(()=>{localStorage.setItem(dr,$.value)});var Et=se([]),un=se(!1);async function Nt(){let e=[],n;for(;;){let r=await R("namespaces/list",
{limit:200,cursor:n});if(e=e.concat(r.namespaces),n=r.nextCursor,!n||e.length>=1e3)break}return Et.value=e,un.value=n!==void 0,e}function Bt(e,n){let r=se(localStorage.
getItem(e)??n);return _e(()=>{localStorage.setItem(e,r.value)}),r}var ue=Bt("timerbus-zone","local"),Ee=Bt("timerbus-theme","auto"),Ne=Bt("timerbus-live","on"),
Rt=Bt("timerbus-shortcuts","on");_e(()=>{Ee.value==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=Ee.value});var Te=se(
null),pr=se(Date.now());setInterval(()=>{document.hidden||(pr.value=Date.now())},1e3);var mr=Fe(()=>pr.value+$t.value),it=()=>Date.now()+$t.value,Ze=se([]),fa=1;
function be(e,n="ok"){let r=fa++;Ze.value=[...Ze.value.slice(-2),{id:r,text:e,kind:n}],setTimeout(()=>{dn(r)},1e4)}function dn(e){Ze.value=Ze.value.filter(n=>n.
id!==e)}var pn=()=>Intl.DateTimeFormat().resolvedOptions().timeZone,fr=new Map;function ha(){return ue.value==="utc"?"UTC":ue.value==="schedule"&&Te.value?Te.value:"loc\
al"}var lt=e=>String(e).padStart(2,"0");function fe(e,n=ha()){let r=new Date(e);if(Number.isNaN(r.getTime()))return String(e);switch(n){case"UTC":return r.toISOString().
slice(0,19).replace("T"," ");case"local":return`${String(r.getFullYear()).padStart(4,"0")}-${lt(r.getMonth()+1)}-${lt(r.getDate())} ${lt(r.getHours())}:${lt(r.getMinutes())}\
:${lt(r.getSeconds())}`;default:{let s=fr.get(n);return s||(s=new Intl.DateTimeFormat("sv-SE",{dateStyle:"short",timeStyle:"medium",timeZone:n}),fr.set(n,s)),s.
format(r)}}}function hr(e){return fe(e).slice(11,16)}function ve(e){let n=Math.abs(e);if(n<1)return n===0?"0 ms":"< 1 ms";if(n<1e3)return`${Math.round(n)} ms`;let r=n/
1e3;return r<10?`${r.toFixed(1)} s`:r<120?`${Math.round(r)} s`:r<7200?`${Math.round(r/60)} min`:r<172800?`${Math.round(r/3600)} h`:`${Math.round(r/86400)} d`}function gr(e,n){
let r=(typeof e=="number"?e:Date.parse(e))-n,s=Math.abs(r)<12e4?ve(Math.round(r/1e3)*1e3||0):ve(r);if(Math.abs(r)<500)return"now";let a=Math.abs(r)<1e4?`${Math.
round(Math.abs(r)/1e3)} s`:s;return r>0?`in ${a}`:`${a} ago`}var ga=new Intl.NumberFormat("en-US"),P=e=>ga.format(e);function ne(e,n){return`${P(e)} ${n}${e===1?
"":"s"}`}var va={ns:1e-6,us:.001,\u00B5s:.001,ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function mn(e){let n=0;for(let[,r="0",s="ms"]of e.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g))
n+=Number(r)*(va[s]??0);return n}function j(e){if(!e)return"";let[,n]=/^(\d+)h(?:0m0s)?$/.exec(e)??[];return n&&Number(n)>24&&Number(n)%24===0?`${Number(n)/24}d`:
e.replace(/(\d+h)0m0s$/,"$1").replace(/(\d+m)0s$/,"$1")}function Be(e){return e?fe(e,ue.value==="utc"?"UTC":"local").replace(" ","T"):""}function de(e){if(!e)return;
let n=new Date(ue.value==="utc"?`${e}Z`:e);return Number.isNaN(n.getTime())?void 0:n.toISOString()}function Dt(e){let[,n]=/^[^/?#]*\/\/([^/?#]*)/.exec(e)??[];return n===
void 0?e:n.slice(n.lastIndexOf("@")+1).toLowerCase()}function Ot(e){return/^[A-Za-z0-9_@%+=:,./-]+$/.test(e)?e:`'${e.replaceAll("'","'\\''")}'`}var _a=Symbol.for("pv"),ya=0;function t(e,n,r,s,a,o){n||(n={});var i,l,c=n;if("ref"in c&&typeof e!="function")for(l in c={},n)l=="ref"?i=n[l]:c[l]=n[l];var d={type:e,props:c,key:r,ref:i,__k:null,
__:null,__b:0,__e:null,__c:null,constructor:_a,__v:--ya,__i:-1,__u:0};return(a||o)&&(d.__source=a,d.__self=o),D.vnode&&D.vnode(d),d}var vr=!1;function z({title:e,crumb:n,actions:r,children:s}){let a=X(null);return J(()=>{document.title=`${e} \xB7 Timerbus`},[e]),J(()=>{vr&&(a.current?.focus(
{preventScroll:!0}),scrollTo(0,0)),vr=!0},[]),t(y,{children:[t("div",{class:"page-head",children:[t("div",{class:"page-title",children:[n&&t("div",{class:"crumb",
children:n}),t("h1",{tabIndex:-1,ref:a,children:e})]}),r&&t("div",{class:"actions",children:r})]}),s]})}function N({title:e,aside:n,children:r,wide:s,flush:a}){
let o=tt();return t("section",{class:`card${s?" wide":""}${a?" flush":""}`,"aria-labelledby":e?o:void 0,children:[e&&t("div",{class:"card-head",children:[t("h2",
{id:o,children:e}),n]}),r]})}function re({kind:e,children:n}){return t("span",{class:`badge ${e}`,children:n})}var Se=({status:e})=>t(re,{kind:e,children:e});function O({
at:e,only:n}){if(!e)return t("span",{class:"muted",children:"\u2013"});let r=fe(e);if(n==="absolute")return t("time",{dateTime:e,title:e,children:r});let s=gr(e,
mr.value);return n==="relative"?t("time",{dateTime:e,title:r,children:s}):t("time",{dateTime:e,title:e,class:"time",children:[t("span",{children:r})," ",t("span",
{class:"muted",children:s})]})}function x({kind:e="",...n}){return t("button",{type:"button",...n,class:`button ${e}`})}function Lt({text:e,label:n="Copy"}){let[
r,s]=h(!1);J(()=>{if(!r)return;let o=setTimeout(()=>{s(!1)},2e3);return()=>{clearTimeout(o)}},[r]);let a=async()=>{try{await navigator.clipboard.writeText(e)}catch{
let o=document.createElement("textarea");o.value=e,document.body.append(o),o.select(),document.execCommand("copy"),o.remove()}s(!0)};return t(x,{kind:"small",onClick:()=>{
a()},children:r?"Copied":n})}function Ft({text:e,label:n}){return t("div",{class:"command",children:[t("pre",{tabIndex:0,"aria-label":n,children:t("code",{children:e})}),
t(Lt,{text:e})]})}function M({title:e,children:n,command:r}){return t("div",{class:"empty",children:[t("p",{class:"empty-title",children:e}),n&&t("p",{class:"mu\
ted",children:n}),r&&t(Ft,{text:r,label:"Command"})]})}var ba={0:"Not reachable",401:"Not signed in",403:"Not allowed",404:"Not found",409:"Changed or existing",
429:"Too many requests",503:"Not available",504:"Outcome unknown"};function he({error:e,again:n}){return t("div",{class:"error",role:"alert",children:[t("div",{
children:[t("strong",{children:ba[e.status]??"Failed"})," ",t("code",{children:[e.status||""," ",e.code]}),t("p",{children:e.message})]}),n&&t(x,{kind:"small",onClick:n,
children:"Try again"})]})}function q({of:e,children:n}){return t(y,{children:[e.error&&t(he,{error:e.error,again:e.again}),e.data!==void 0?n(e.data):e.loading&&
t("div",{class:"skeleton",role:"status",children:t("span",{class:"sr",children:"Loading"})})]})}function Ie({title:e,close:n,children:r,wide:s}){let a=X(null),o=tt();
return J(()=>{let i=a.current,l=document.activeElement;return i?.showModal(),()=>{i?.close(),l?.focus()}},[]),t("dialog",{ref:a,class:s?"wide":"","aria-labelled\
by":o,onCancel:i=>{i.preventDefault(),n()},children:[t("div",{class:"dialog-head",children:[t("h2",{id:o,children:e}),t(x,{kind:"icon","aria-label":"Close",onClick:n,
children:"\u2715"})]}),r]})}function _r({label:e,hint:n,children:r,error:s}){let a=tt(),o=n||s?`${a}-hint`:void 0;return t("div",{class:"field",children:[t("lab\
el",{for:a,children:e}),r(a,o),(n||s)&&t("p",{id:o,class:s?"hint bad":"hint",children:s??n})]})}function B({label:e,value:n,set:r,hint:s,error:a,type:o="text",placeholder:i,
required:l,mono:c,step:d}){return t(_r,{label:e,hint:s,error:a,children:(u,p)=>t("input",{id:u,type:o,value:n,placeholder:i,required:l,step:d,spellcheck:!1,autocomplete:"\
off",class:c?"mono":"","aria-describedby":p,"aria-invalid":a?!0:void 0,onInput:f=>{r(f.currentTarget.value)}})})}function ct({label:e,value:n,set:r,hint:s,error:a,
rows:o=5}){return t(_r,{label:e,hint:s,error:a,children:(i,l)=>t("textarea",{id:i,rows:o,value:n,class:"mono",spellcheck:!1,"aria-describedby":l,"aria-invalid":a?
!0:void 0,onInput:c=>{r(c.currentTarget.value)}})})}function ce({label:e,value:n,set:r,options:s,hint:a,hideLabel:o}){let i=tt();return t("div",{class:"field",children:[
t("label",{for:i,class:o?"sr":"",children:e}),t("select",{id:i,value:n,onChange:l=>{r(l.currentTarget.value)},children:s.map(([l,c])=>t("option",{value:l,selected:l===
n,children:c},l))}),a&&t("p",{class:"hint",children:a})]})}function ke({of:e}){return t("dl",{class:"facts",children:e.filter(([,n])=>n!==void 0&&n!==""&&n!==null).
map(([n,r])=>t("div",{children:[t("dt",{children:n}),t("dd",{children:r})]},n))})}function ae({caption:e,head:n,children:r,stack:s}){return t("div",{class:"tabl\
e-wrap",tabIndex:0,role:"group","aria-label":e,children:t("table",{class:s?"stack":"",children:[t("caption",{class:"sr",children:e}),t("thead",{children:t("tr",
{children:n.map((a,o)=>t("th",{scope:"col",children:a},o))})}),t("tbody",{children:r})]})})}function Je({value:e,label:n}){let r=typeof e=="string"?e:JSON.stringify(
e,null,2);return t("div",{class:"command",children:[t("pre",{tabIndex:0,"aria-label":n,children:t("code",{children:r})}),t(Lt,{text:r})]})}function yr({bars:e,label:n,
every:r}){let s=ka(Math.max(1,...e.map(i=>i.value))),a=1e3/Math.max(1,e.length),o=i=>100*(1-i/s);return t(y,{children:[t("div",{class:"chart",role:"img","aria-l\
abel":n,children:[t("svg",{viewBox:"0 0 1000 100",preserveAspectRatio:"none","aria-hidden":"true",children:[[0,s/2,s].map(i=>t("line",{x1:"0",x2:"1000",y1:o(i),
y2:o(i)},i)),e.map((i,l)=>i.value>0&&t("rect",{x:l*a+a*.08,width:a*.84,y:Math.min(o(i.value),99),height:Math.max(1,100-o(i.value)),children:t("title",{children:i.
title})},l))]}),[0,s/2,s].map(i=>t("span",{class:"y","aria-hidden":"true",style:{top:`${o(i)}%`},children:It(i)},i)),e.map((i,l)=>l%r===0&&t("span",{class:"x","\
aria-hidden":"true",style:{left:`${l*a/10}%`},children:i.label},l))]}),t("details",{class:"as-table",children:[t("summary",{children:"As a table"}),t(ae,{caption:n,
head:["From","Timers"],children:e.filter(i=>i.value>0).map(i=>t("tr",{children:[t("td",{children:i.label}),t("td",{class:"num",children:i.value})]},i.label+i.title))})]})]})}
function ka(e){let n=10**Math.floor(Math.log10(e));for(let r of[1,1.2,1.6,2,3,4,5,6,8,10])if(r*n>=e)return Math.max(2,r*n);return e}function It(e){return e>=1e6?
`${+(e/1e6).toFixed(1)}M`:e>=1e4?`${+(e/1e3).toFixed(1)}k`:e>=1e3?`${+(e/1e3).toFixed(1)}k`:String(+e.toFixed(1))}function wa({values:e}){if(e.length<2)return t(
"svg",{class:"spark",viewBox:"0 0 100 24","aria-hidden":"true"});let n=Math.max(...e,1e-9),r=e.map((s,a)=>`${(a/(e.length-1)*100).toFixed(1)},${(22-s/n*20).toFixed(
1)}`);return t("svg",{class:"spark",viewBox:"0 0 100 24",preserveAspectRatio:"none","aria-hidden":"true",children:[t("polygon",{points:`0,24 ${r.join(" ")} 100,\
24`,class:"area"}),t("polyline",{points:r.join(" "),class:"line"})]})}function Y({label:e,value:n,hint:r,kind:s="",spark:a,href:o}){let i=t(y,{children:[t("span",
{class:"tile-label",children:e}),t("span",{class:"tile-value",children:n}),t("span",{class:"tile-hint",children:r}),a&&t(wa,{values:a})]});return o?t("a",{class:`\
tile ${s}`,href:o,children:i}):t("div",{class:`tile ${s}`,children:i})}function Mt(e){return e instanceof I?e:new I(0,"UNEXPECTED",String(e))}function pe({title:e,children:n,verb:r,danger:s,path:a,body:o,done:i,close:l,after:c}){let[
d,u]=h(),[p,f]=h(!1),m=async()=>{let g=o();if(typeof g=="string"){u(new I(0,"INCOMPLETE",g));return}f(!0);try{let{late:C}=await Pe(a,g);be(C?`${i} An earlier de\
livery may have been sent.`:i,C?"warn":"ok"),l(),c()}catch(C){u(Mt(C)),f(!1)}};return t(Ie,{title:e,close:l,children:t("form",{onSubmit:g=>{g.preventDefault(),m()},
children:[n,d&&t(he,{error:d}),d?.status===409&&t("p",{class:"hint",children:"It has changed since it was shown. Close this dialog; the page shows the present s\
tate."}),t("div",{class:"dialog-foot",children:[t(x,{onClick:l,children:"Cancel"}),t("button",{type:"submit",class:`button ${s?"danger":"primary"}`,disabled:p,children:p?
"Sending\u2026":r})]})]})})}var br=250;function Ut(e,n){return async(r,s)=>{let a=0,o=0;for(let i;;){let{data:l}=await Pe(e,{...n,dryRun:!0,limit:br,cursor:i},r);
if(s(a+=l.applied),o+=l.skipped,i=l.nextCursor,!i)return{n:a,more:!1,skipped:o}}}}function Ke({action:e,close:n,after:r}){let[s,a]=h("ask"),[o,i]=h(),[l,c]=h(0),
[d,u]=h({matched:0,applied:0,late:0,skipped:0,pages:0}),[p,f]=h(),m=X(new AbortController),g=X(void 0),C=X(!1),v=X(!1);J(()=>()=>{v.current=!0,C.current=!0,m.current.
abort()},[]);let w=async()=>{a("counting"),f(void 0),m.current=new AbortController;try{i(await e.count(m.current.signal,c)),a("counted")}catch(E){if(m.current.signal.
aborted)return;f(Mt(E)),a("ask")}},k=async()=>{a("running"),f(void 0),C.current=!1;let E=d;try{do{let{data:L}=await Pe(e.path,{...e.filter,limit:br,cursor:g.current});
g.current=L.nextCursor,E={matched:E.matched+L.matched,applied:E.applied+L.applied,late:E.late+(L.late??0),skipped:E.skipped+L.skipped,pages:E.pages+1},u(E)}while(g.
current&&!C.current);a(g.current?"cancelled":"ended"),v.current&&be(`${e.title}: ${g.current?"stopped, ":""}${T(E)}.`,g.current?"warn":"ok")}catch(L){f(Mt(L)),a(
"failed"),v.current&&be(`${e.title}: failed, ${T(E)}: ${Mt(L).message}`,"warn")}r()},_=o?.n??0,T=E=>`${ne(E.applied,"timer")} ${e.done}`+(E.skipped?`, ${P(E.skipped)}\
 skipped`:"")+(E.late?`, ${P(E.late)} of them late`:"");return t(Ie,{title:e.title,close:n,children:[t("p",{children:e.describe}),s==="counting"&&t("p",{role:"s\
tatus",children:["Counting\u2026 ",l>0&&P(l)]}),s==="counted"&&o&&t("p",{role:"status",class:"callout",children:["Dry run: ",o.more?"at least ":"",ne(o.n,"timer"),
" would be ",e.done,o.skipped?`, ${P(o.skipped)} would be skipped, because they were retried before`:"",". Nothing was changed."]}),d.pages>0&&t("div",{class:"p\
rogress-wrap",children:[t("progress",{max:Math.max(1,_,d.matched),value:d.matched,"aria-label":"Progress"}),t("p",{role:"status",children:[s==="running"?"Workin\
g: ":s==="ended"?"Finished: ":s==="cancelled"?"Cancelled: ":"Stopped: ",T(d),s==="cancelled"&&". The others were not changed."]})]}),p&&t(he,{error:p}),t("div",
{class:"dialog-foot",children:[s==="running"?t(x,{kind:"danger",onClick:()=>{C.current=!0},children:"Cancel"}):t(x,{onClick:n,children:"Close"}),(s==="ask"||s===
"counted")&&t(x,{onClick:()=>{w()},children:"Dry run"}),(s==="ask"||s==="counted")&&t(x,{kind:e.danger?"danger":"primary",onClick:()=>{k()},children:[e.verb," ",
o?o.more?"all":P(o.n):"all"]}),(s==="cancelled"||s==="failed")&&t(x,{kind:"primary",onClick:()=>{k()},children:"Continue"})]})]})}function xa(e){let n=[];for(let r of e.split(`
`)){if(!r.startsWith("timerbus_"))continue;let s=/^(\w+)(?:\{(.*)\})? (\S+)/.exec(r);if(!s)continue;let a={};for(let[,o="",i=""]of(s[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
a[o]=i.replace(/\\(.)/g,(l,c)=>c==="n"?`
`:c);n.push({name:s[1].slice(9),labels:a,value:Number(s[3].replace("Inf","Infinity"))})}return n}var Ve=class{at=performance.now();byName=new Map;constructor(n){
for(let r of xa(n)){let s=this.byName.get(r.name);s?s.push(r):this.byName.set(r.name,[r])}}sum(n,r={}){let s=this.byName.get(n)?.filter(a=>Object.entries(r).every(
([o,i])=>a.labels[o]===i));return s?.length?s.reduce((a,o)=>a+o.value,0):void 0}by(n,r,s={}){let a=new Map;for(let o of this.byName.get(n)??[]){if(!Object.entries(
s).every(([l,c])=>o.labels[l]===c))continue;let i=o.labels[r]??"";a.set(i,(a.get(i)??0)+o.value)}return a}quantile(n,r,s,a={}){if(!s)return;let o=s.by(`${r}_buc\
ket`,"le",a),i=[...this.by(`${r}_bucket`,"le",a)].map(([p,f])=>[p==="+Inf"?1/0:Number(p),f-(o.get(p)??0)]).sort((p,f)=>p[0]-f[0]),l=i.at(-1)?.[1]??0;if(l<=0)return;
let c=n*l,d=0,u=0;for(let[p,f]of i){if(f>=c)return p===1/0?d:d+(p-d)*(f===u?1:(c-u)/(f-u));d=p,u=f}return d}},kr=6e4,Ge=class{constructor(n){this.counter=n}counter;scrapes=[];add(n){
let r=n.sum(this.counter)??0;for(this.scrapes=this.scrapes.filter(s=>n.at-s.at<=2*kr&&(s.sum(this.counter)??0)<=r),this.scrapes.push(n);this.scrapes.length>2&&n.
at-this.scrapes[1].at>kr;)this.scrapes.shift();return this.scrapes.length>1?this.scrapes[0]:void 0}};var Ca=6e4,Ta=100;function F(e,n,r,s=!1){let[a,o]=h({key:""}),[i,l]=h(0),c=X(r);c.current=r;let d=Ne.value==="on";_t(()=>{if(e==="")return;let p=new AbortController,
f=0,m=0,g=!1,C=0,v=()=>{clearTimeout(f),d&&(f=window.setTimeout(()=>{w()},Math.max(0,C-performance.now())))},w=async()=>{if(g||p.signal.aborted||document.hidden&&
f!==0)return;g=!0;let _=performance.now();try{let E=await c.current(p.signal);if(p.signal.aborted)return;m=0,o({key:e,data:E})}catch(E){if(p.signal.aborted)return;
m++;let L=E instanceof I?E:new I(0,"UNEXPECTED",String(E));if(o(Q=>Q.key===e&&Q.data!==void 0?{key:e,data:Q.data,error:L}:{key:e,error:L}),L.status>=400&&L.status<
500&&L.status!==429)return}finally{g=!1}let T=s?Math.max(n,Ta*(performance.now()-_)):n;C=performance.now()+(m?Math.max(n,Math.min(Ca,n*2**m)):T),v()},k=()=>{document.
hidden||!d||g||(s||(C=0),v())};return document.addEventListener("visibilitychange",k),w(),()=>{p.abort(),clearTimeout(f),document.removeEventListener("visibilit\
ychange",k)}},[e,n,i,d]);let u=a.key===e?a:{key:e};return{data:u.data,error:u.error,loading:e!==""&&u.data===void 0&&u.error===void 0,again:()=>{l(p=>p+1)}}}var wr=60;function Sa(){let e=X(new Ge("dispatcher_fires_total")),n=X({fires:[],lateness:[]}),r=We("read"),s=F(r?"metrics":"",3e3,async()=>{let d=new Ve(await At()),
u=e.current.add(d),p=d.sum("dispatcher_fires_total"),f=d.sum("timers_pending"),m=u?(d.at-u.at)/1e3:0,g=u&&p!==void 0?Math.max(0,p-(u.sum("dispatcher_fires_total")??
0))/m:void 0,C=w=>d.quantile(w,"dispatcher_lateness_seconds",u),v={lateness50:C(.5),lateness99:C(.99),fires:g,pending:f,overdue:d.sum("timers_overdue"),dead:d.sum(
"timers_dead"),held:f===void 0?void 0:(d.sum("timers_paused")??0)+(d.sum("timers_parked")??0),oldest:d.sum("timers_oldest_overdue_seconds"),whole:f!==void 0,local:p!==
void 0};return g!==void 0&&(n.current.fires=[...n.current.fires,g].slice(-wr)),v.lateness99!==void 0&&(n.current.lateness=[...n.current.lateness,v.lateness99].slice(
-wr)),v}),a=!r||s.data?.whole===!1,o=F(a?`counts/${$.value}`:"",3e4,$a,!0),i=r?s:{...o,data:o.data&&{...o.data,whole:!1,local:!1}},l=i.data&&{...i.data,...o.data},
c=()=>{s.again(),o.again()};return{poll:{...i,data:l,error:i.error??o.error,again:c},series:n.current,everywhere:r}}async function $a(e){let n=!1,r=async(...c)=>{
let d=await Promise.all(c.map(u=>R("timers/count",{namespace:$.value,...u},e)));return n||=d.some(u=>u.truncated),d.reduce((u,p)=>u+p.count,0)},s=new Date(it()).
toISOString(),[a,o,i,l]=await Promise.all([r({status:"scheduled"},{status:"retrying"}),r({status:"scheduled",dueBefore:s},{status:"retrying",dueBefore:s}),r({status:"\
dead"}),r({status:"paused"},{status:"parked"})]);return{pending:a,overdue:o,dead:i,held:l,least:n}}var qt=(e,n)=>n===void 0?"\u2013":t(y,{children:[e.least&&t("\
small",{children:"at least "}),It(n)]}),fn=e=>e===void 0?"\u2013":ve(e*1e3);function Aa({of:e}){let n=e.reasons??[],r=e.degraded??[],s=n.length?"dead":r.length?
"retrying":"done";return t("div",{class:`health ${s}`,role:"status",children:[t(re,{kind:s,children:n.length?"not ready":r.length?"degraded":"healthy"}),n.length===
0&&r.length===0&&t("span",{children:"Requests are served, and all parts work."}),t("ul",{children:[n.map(a=>t("li",{children:a},a)),r.map(a=>t("li",{children:[t(
"strong",{children:a.part}),": ",a.reason,", ",t(O,{at:a.since})]},a.part))]})]})}var hn=[["24h","24 hours",24,30],["1h","1 hour",1,1],["7d","7 days",168,240]];
function Pa(){let[e,n]=h("24h"),[,r,s,a]=hn.find(([l])=>l===e)??hn[0],o=F(`forecast/${$.value}/${e}`,6e4,l=>{let c=a*6e4,d=Math.floor(it()/c)*c;return R("timers\
/forecast",{namespace:$.value,from:new Date(d).toISOString(),to:new Date(d+s*36e5).toISOString(),bucket:`${a}m`},l)},!0),i=t("div",{class:"segments",role:"group",
"aria-label":"Range of the forecast",children:hn.map(([l,c])=>t("button",{type:"button","aria-pressed":e===l,onClick:()=>{n(l)},children:c},l))});return t(N,{title:"\
Forecast",aside:i,wide:!0,children:t(q,{of:o,children:l=>{let c=Date.parse(l.from),d=l.counts.reduce((p,f)=>p+f,0),u=l.counts.map((p,f)=>{let m=c+f*a*6e4;return{
label:s>24?fe(m).slice(5,16):hr(m),value:p,title:`${fe(m)}: ${ne(p,"timer")}`}});return t(y,{children:[t("p",{class:"muted",children:[ne(d,"timer")," of ",$.value,
" due in the next ",r,l.truncated&&`, counted until ${fe(l.completeBefore)}`]}),d===0?t(M,{title:"Nothing is due in this time.",command:"timerbus timer create h\
ello --in 1h",children:"Create a timer:"}):t(yr,{bars:u,every:Math.ceil(u.length/(innerWidth<600?4:8)),label:`Timers due in the next ${r}, for each ${a} minutes\
: ${d} in all`})]})}})})}function Ht(e){return e.callbackUrl?Dt(e.callbackUrl):e.topic?`topic ${e.topic}`:"event"}function Ea(){let e=F(`next/${$.value}`,3e3,n=>R(
"timers/list",{namespace:$.value,order:"due",limit:8},n));return t(N,{title:"Due next",aside:t("a",{href:A(["timers"]),children:"All timers"}),flush:!0,children:t(
q,{of:e,children:({timers:n})=>n.length===0?t(M,{title:"No timer waits.",command:"timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/",children:"\
Create one, here or with the CLI:"}):t(ae,{caption:"Timers that are due next",head:["Due","Timer","Target","Status"],children:n.map(r=>t("tr",{children:[t("td",
{children:t(O,{at:r.dueAt,only:"relative"})}),t("td",{class:"id",children:t("a",{href:A(["timers",r.id]),children:r.id})}),t("td",{class:"clip",children:Ht(r)}),
t("td",{children:t(Se,{status:r.status})})]},r.uuid))})})})}function Na(){let e=F(`failed/${$.value}`,1e4,n=>R("timers/list",{namespace:$.value,status:"dead",limit:8},
n));return t(N,{title:"Dead letters",aside:t("a",{href:A(["dead"]),children:"By reason"}),flush:!0,children:t(q,{of:e,children:({timers:n})=>n.length===0?t(M,{title:"\
No timer is dead.",children:"Timers whose retry policy has ended appear here."}):t(ae,{caption:"Some dead timers",head:["Timer","Target","Error"],children:n.map(
r=>t("tr",{children:[t("td",{class:"id",children:t("a",{href:A(["timers",r.id]),children:r.id})}),t("td",{class:"clip",children:Ht(r)}),t("td",{class:"clip",title:r.
lastError,children:r.lastError})]},r.uuid+r.generation))})})})}function xr(){let e=F("health",5e3,()=>ir()),{poll:n,series:r,everywhere:s}=Sa(),a=n.data,o=a&&!a.
whole?`namespace ${$.value}`:"cluster";return t(z,{title:"Overview",children:[t(q,{of:e,children:i=>t(Aa,{of:i})}),t(q,{of:n,children:i=>t(y,{children:[t("div",
{class:"tiles",children:[t(Y,{label:"Lateness p50",value:fn(i.lateness50),hint:"start of the attempt",kind:i.lateness50!==void 0&&i.lateness50>5?"warn":""}),t(Y,
{label:"Lateness p99",value:fn(i.lateness99),hint:"last minute",kind:i.lateness99!==void 0&&i.lateness99>10?"warn":"",spark:r.lateness}),t(Y,{label:"Fires",value:i.
fires===void 0?"\u2013":`${It(i.fires)}/s`,hint:"last minute",spark:r.fires}),t(Y,{label:"Pending",value:qt(i,i.pending),hint:(i.pending??0)<1e3?"scheduled, ret\
rying":P(i.pending??0),href:A(["timers"])}),t(Y,{label:"Backlog",value:qt(i,i.overdue),hint:i.oldest?`oldest ${fn(i.oldest)}`:"overdue timers",kind:(i.oldest??0)>
10?"warn":""}),t(Y,{label:"Dead",value:qt(i,i.dead),hint:i.whole?"can be retried":"in the history",kind:i.dead?"bad":"",href:A(["dead"])}),t(Y,{label:"Paused, p\
arked",value:qt(i,i.held),hint:o,href:A(["timers"],{status:"paused"})})]}),!i.local&&t("p",{class:"callout",children:s?t(y,{children:["This process delivers no \
timers, so it has no lateness and fires. Dispatchers export them at ",t("code",{children:"/metrics"}),"; the Grafana dashboard shows all processes."]}):t(y,{children:"\
Lateness and fires need the right to read all namespaces."})})]})}),t("div",{class:"grid",children:[t(Pa,{}),t(Ea,{}),t(Na,{})]})]})}var Ba=50,Ra=[["","Live (all that are not finished)"],["scheduled","Scheduled"],["retrying","Retrying"],["paused","Paused"],["parked","Parked"],["done","Done"],
["dead","Dead"]];async function Da(e,n,r){if(!e.correlationId){let{correlationId:a,...o}=e,{count:i,truncated:l}=await R("timers/count",o,n);return{n:i,more:l}}
let s=0;for(let a;;){let o=await R("timers/list",{...e,limit:1e3,cursor:a},n);if(r(s+=o.timers.length),a=o.nextCursor,!a)return{n:s,more:!1}}}async function gn(e,n,r,s){
let a=0,o=!1;for(let i of n){let l=a,c=await Da({...e,status:i},r,d=>{s(l+d)});a+=c.n,o||=c.more}return{n:a,more:o}}function vn({timers:e,caption:n}){return t(ae,
{caption:n,head:["Timer","Status","Due","Target","Attempts","Last error"],stack:!0,children:e.map(r=>t("tr",{children:[t("td",{class:"id","data-label":"Timer",children:t(
"a",{href:A(["timers",r.id]),children:r.id})}),t("td",{"data-label":"Status",children:t(Se,{status:r.status})}),t("td",{"data-label":"Due",children:t(O,{at:r.status===
"done"||r.status==="dead"?r.executeAt:r.dueAt})}),t("td",{class:"clip","data-label":"Target",title:r.callbackUrl??r.topic,children:Ht(r)}),t("td",{class:"num","\
data-label":"Attempts",children:r.attempts}),t("td",{class:"clip","data-label":"Last error",title:r.lastError,children:r.lastError??t("span",{class:"muted",children:"\
\u2013"})})]},r.uuid+r.generation))})}function Cr(){let e=te.value.query,n=e.get("status")??"",r=e.get("correlationId")??"",s=e.get("dueFrom")??"",a=e.get("dueB\
efore")??"",o=e.get("cursor")??"",i=(n===""||n==="scheduled"||n==="retrying")&&!r&&e.get("order")!=="key",[l,c]=h(""),[d,u]=h(null),p={namespace:$.value,status:n||
void 0,correlationId:r||void 0,dueFrom:s||void 0,dueBefore:a||void 0},f=JSON.stringify([p,i,o]),m=F(f,o?1e4:3e3,_=>R("timers/list",{...p,order:i?"due":"key",limit:Ba,
cursor:o||void 0},_)),g=F(r?"":JSON.stringify(p),3e4,_=>{let{correlationId:T,...E}=p;return R("timers/count",E,_)},!0),C=le("write",$.value),v=_=>{let T={pause:[
"Pause timers","Pause","paused"],resume:["Resume timers","Resume","resumed"],delete:["Delete timers","Delete","deleted"],retry:["Retry timers","Retry","started \
again"],purge:["Delete from history","Delete","removed from history"]},[E,L,Q]=T[_],{status:K,...ie}=p,U=_==="resume"?ie:p,V=`timers/${_}-matching`,S=_==="resum\
e"?["paused"]:_==="pause"&&!n?["scheduled","retrying"]:[p.status];u({title:E,verb:L,done:Q,path:V,filter:U,danger:_==="delete"||_==="purge",describe:t(y,{children:[
"All timers of ",t("strong",{children:$.value})," that this page\u2019s filter selects, not only those of the shown page."]}),count:_==="retry"||_==="purge"?Ut(
V,U):(b,G)=>gn(p,S,b,G)})},w=!!(n||r||s||a),k=C&&t(y,{children:[(n===""||n==="scheduled"||n==="retrying")&&t(x,{onClick:()=>{v("pause")},children:"Pause all\u2026"}),
(n===""||n==="paused")&&t(x,{onClick:()=>{v("resume")},children:"Resume all\u2026"}),(n==="dead"||n==="parked")&&t(x,{onClick:()=>{v("retry")},children:"Retry a\
ll\u2026"}),(n==="dead"||n==="done")&&t(x,{onClick:()=>{v("purge")},children:"Delete all\u2026"}),n!=="dead"&&n!=="done"&&w&&t(x,{onClick:()=>{v("delete")},children:"\
Delete all\u2026"}),t("a",{class:"button primary",href:A(["new","timer"]),children:"Create timer"})]});return t(z,{title:"Timers",actions:k,children:[t("form",{
class:"filters",role:"search",onSubmit:_=>{_.preventDefault(),l.trim()&&oe(["timers",l.trim()])},children:[t("div",{class:"field",children:[t("label",{for:"open",
children:"Open by id"}),t("div",{class:"joined",children:[t("input",{id:"open","data-search":!0,type:"search",value:l,placeholder:"order-1842",spellcheck:!1,onInput:_=>{
c(_.currentTarget.value)}}),t("button",{type:"submit",class:"button",children:"Open"})]})]}),t(ce,{label:"Status",value:n,options:Ra,set:_=>{ge({status:_})}}),t(
Me,{label:"Correlation id",value:r,set:_=>{ge({correlationId:_})}}),t(Me,{label:`Due from (${ue.value==="utc"?"UTC":"local"})`,type:"datetime-local",value:Be(s),
set:_=>{ge({dueFrom:de(_)})}}),t(Me,{label:"Due before",type:"datetime-local",value:Be(a),set:_=>{ge({dueBefore:de(_)})}}),(w||o)&&t(x,{kind:"ghost",onClick:()=>{
oe(["timers"])},children:"Clear"})]}),t(N,{flush:!0,wide:!0,children:t(q,{of:m,children:_=>t(y,{children:[_.timers.length===0?t(M,{title:w||o?"No timer matches.":
"There are no timers in this namespace.",command:w||o?void 0:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${$.value}`,children:w||
o?_.nextCursor?"This page is empty; the next one may not be.":"Change the filter, or clear it.":"Create the first one, here or with the CLI:"}):t(vn,{timers:_.timers,
caption:"Timers"}),t("div",{class:"pager",children:[t("span",{class:"muted",role:"status",children:[r?"":g.data?`${g.data.truncated?"at least ":""}${P(g.data.count)}\
 in all`:"",i?(r?"":", ")+"the next due first":", in a fixed order"]}),t("span",{class:"pager-buttons",children:[o&&t("a",{class:"button",href:A(["timers"],{...Object.
fromEntries(e),cursor:void 0}),children:"First page"}),_.nextCursor&&t("a",{class:"button",href:A(["timers"],{...Object.fromEntries(e),cursor:_.nextCursor}),children:"\
Next page"})]})]})]})})}),d&&t(Ke,{action:d,close:()=>{u(null)},after:()=>{m.again(),g.again()}})]})}function Me({label:e,value:n,set:r,type:s}){let[a,o]=h(n),[
i,l]=h(n);i!==n&&(l(n),o(n));let c=()=>{a!==n&&r(a)};return t("div",{onFocusOut:c,onKeyDown:d=>{d.key==="Enter"&&(d.preventDefault(),c())},children:t(B,{label:e,
value:a,set:o,type:s,step:s?"1":void 0})})}var Oa=5e3,La=500,Fa=20,_n=100;function Ia(e,n){for(let r of n){let s=r.callbackUrl?Dt(r.callbackUrl):"",a=r.lastError??"",o=`${s}\0${a}`,i=e.groups.get(o);i||(i=
{host:s,error:a,status:r.lastStatusCode,timers:[],count:0,oldest:r.executeAt,newest:r.executeAt},e.groups.set(o,i)),i.count++,i.timers.length<Fa&&i.timers.push(
r),r.executeAt<i.oldest&&(i.oldest=r.executeAt),r.executeAt>i.newest&&(i.newest=r.executeAt)}e.read+=n.length}var yn=e=>e.host||"no URL";async function Tr(e,n,r,s){
let a=e?{...e,groups:new Map([...e.groups].map(([i,l])=>[i,{...l,timers:[...l.timers]}]))}:{groups:new Map,read:0,cursor:void 0},o=a.read+Oa;do{let i=await R("t\
imers/list",{...n,limit:La,cursor:a.cursor},r);Ia(a,i.timers),a.cursor=i.nextCursor,r.aborted||s({...a})}while(a.cursor&&a.read<o);return a}function Ma({of:e}){
let[n,r]=h(e.timers);return J(()=>{let s=new AbortController,a=o=>R("timers/get",{namespace:o.namespace,id:o.id},s.signal).then(i=>i.generation===o.generation?o:
{...o,status:i.status},()=>o);return Promise.all(e.timers.map(a)).then(o=>{s.signal.aborted||r(o)}),()=>{s.abort()}},[e.timers]),t(vn,{timers:n,caption:`Dead ti\
mers of ${yn(e)}`})}function Sr(){let e=te.value.query,n=e.get("correlationId")??"",r=e.get("dueFrom")??"",s=e.get("dueBefore")??"",a=$.value,o={namespace:a,status:"\
dead",correlationId:n||void 0,dueFrom:r||void 0,dueBefore:s||void 0},i=JSON.stringify(o),[l,c]=h(),[d,u]=h(),p=d?.key===i?d:void 0,[f,m]=h(),[g,C]=h(null),v=F(p?
"":i,1e4,S=>Tr(void 0,o,S,b=>{c({key:i,read:b})}),!0),w=p?.read??v.data??(l?.key===i?l.read:void 0),k=p?.busy??v.loading,_=p?p.error:v.error,T=X(new AbortController);
J(()=>()=>{T.current.abort()},[i]);let E=async S=>{T.current=new AbortController;let{signal:b}=T.current,G=S;u({key:i,read:G,busy:!0});try{G=await Tr(S,o,b,me=>{
G=me,u({key:i,read:G,busy:!0})}),b.aborted||u({key:i,read:G,busy:!1})}catch(me){b.aborted||u({key:i,read:G,busy:!1,error:me instanceof I?me:new I(0,"UNEXPECTED",
String(me))})}},L=()=>{T.current.abort(),u(void 0),v.again()},Q=(S,b)=>{let G=b?{...o,callbackHost:b.host,lastError:b.error}:o,me=`timers/${S}-matching`;C({title:S===
"retry"?"Retry dead timers":"Delete dead timers",verb:S==="retry"?"Retry":"Delete",done:S==="retry"?"started again":"removed from history",path:me,filter:G,danger:S===
"purge",describe:b?t(y,{children:["All dead timers of ",t("strong",{children:a})," that ",b.host?t(y,{children:["call ",t("strong",{children:b.host})]}):"have n\
o URL"," and failed with ",t("q",{children:b.error}),"."]}):t(y,{children:["All dead timers of ",t("strong",{children:a})," that this page\u2019s filter selects, als\
o those that were not read yet."]}),count:Ut(me,G)})},K=le("write",a),ie=w?[...w.groups].sort(([,S],[,b])=>b.count-S.count):[],U=!!(n||r||s),V=K&&ie.length>0&&t(
y,{children:[t(x,{kind:"primary",onClick:()=>{Q("retry")},children:"Retry all\u2026"}),t(x,{kind:"danger-ghost",onClick:()=>{Q("purge")},children:"Delete all\u2026"})]});
return t(z,{title:"Dead letters",actions:V,children:[t("form",{class:"filters",role:"search",onSubmit:S=>{S.preventDefault()},children:[t(Me,{label:"Correlation\
 id",value:n,set:S=>{ge({correlationId:S})}}),t(Me,{label:"Planned from",type:"datetime-local",value:Be(r),set:S=>{ge({dueFrom:de(S)})}}),t(Me,{label:"Planned b\
efore",type:"datetime-local",value:Be(s),set:S=>{ge({dueBefore:de(S)})}}),U&&t(x,{kind:"ghost",onClick:()=>{oe(["dead"])},children:"Clear"})]}),_&&t(he,{error:_,
again:L}),!w&&k&&t("div",{class:"skeleton",role:"status",children:t("span",{class:"sr",children:"Loading"})}),w&&ie.length===0&&!k&&t(N,{children:t(M,{title:U?"\
No dead timer matches.":"No timer is dead.",children:U?"Change the filter, or clear it.":t(y,{children:["Timers whose retry policy has ended appear here, with t\
heir payload, for the dead retention of the namespace. ",t("a",{href:A(["timers"],{status:"retrying"}),children:"Timers that are retried"})]})})}),w&&ie.length>
0&&t(y,{children:[t("p",{class:"muted",role:"status",children:[ne(w.read,"dead timer")," in ",ne(ie.length,"group"),", by host and reason",w.cursor&&", and more",
". A timer that was retried stays here as the history of its earlier run, until it is deleted or the dead retention ends."]}),t("div",{class:"groups",children:ie.
slice(0,_n).map(([S,b])=>t("section",{class:"card group","aria-label":`${yn(b)}: ${b.error}`,children:[t("div",{class:"group-head",children:[t("span",{class:"gr\
oup-count",children:P(b.count)}),t("div",{class:"group-text",children:[t("div",{children:[t("strong",{children:yn(b)})," ",b.status?t(re,{kind:"dead",children:[
"HTTP ",b.status]}):null]}),t("div",{class:"reason",children:b.error||"no reason"}),t("div",{class:"muted",children:["planned ",fe(b.oldest),b.newest!==b.oldest&&
` to ${fe(b.newest)}`]})]}),t("div",{class:"actions",children:[K&&b.error&&t(x,{kind:"small",onClick:()=>{Q("retry",b)},children:"Retry\u2026"}),K&&b.error&&t(x,
{kind:"small danger-ghost",onClick:()=>{Q("purge",b)},children:"Delete\u2026"}),t(x,{kind:"small ghost","aria-expanded":f===S,onClick:()=>{m(f===S?void 0:S)},children:[
f===S?"Hide":"Show"," timers"]})]})]}),f===S&&t(Ma,{of:b}),f===S&&b.count>b.timers.length&&t("p",{class:"muted pad",children:["The first ",b.timers.length," of ",
P(b.count),"."]})]},S))}),ie.length>_n&&t("p",{class:"muted",children:["The ",_n," largest groups."]}),w.cursor&&t("p",{children:t(x,{disabled:k,onClick:()=>{E(
w)},children:k?"Reading\u2026":"Read more"})})]}),g&&t(Ke,{action:g,close:()=>{C(null)},after:L})]})}function $r(e){return e.cron?e.cron:e.every?`every ${j(e.every)}`:e.rrule?e.rrule:ne(e.dates?.length??0,"date")}function Ua({payload:e,request:n,headers:r,...s}){
return ye.hidePayloads?s:{...s,payload:e,request:n,headers:r}}function Ar(){let e=te.value.query.get("status")??"",n=te.value.query.get("cursor")??"",r=$.value,
s=F(`${r}/${e}/${n}`,5e3,a=>R("schedules/list",{namespace:r,status:e||void 0,limit:50,cursor:n||void 0},a));return t(z,{title:"Schedules",actions:le("write",r)&&
t("a",{class:"button primary",href:A(["new","schedule"]),children:"Create schedule"}),children:[t("form",{class:"filters",role:"search",onSubmit:a=>{a.preventDefault()},
children:t(ce,{label:"Status",value:e,set:a=>{ge({status:a})},options:[["","All"],["active","Active"],["paused","Paused"],["parked","Parked"]]})}),t(N,{flush:!0,
wide:!0,children:t(q,{of:s,children:a=>t(y,{children:[a.schedules.length===0?t(M,{title:e?`No schedule is ${e}.`:"There are no schedules in this namespace.",command:e?
void 0:`timerbus schedule create daily-report --cron '0 8 * * MON-FRI' --time-zone Europe/Berlin -n ${r}`,children:!e&&"A schedule creates a timer for each of i\
ts instants. Create the first one, here or with the CLI:"}):t(ae,{caption:"Schedules",head:["Schedule","Status","Occurs","Time zone","Next","Created"],stack:!0,
children:a.schedules.map(o=>t("tr",{children:[t("td",{class:"id","data-label":"Schedule",children:t("a",{href:A(["schedules",o.id]),children:o.id})}),t("td",{"d\
ata-label":"Status",children:t(Se,{status:o.status})}),t("td",{class:"clip","data-label":"Occurs",children:t("code",{children:o.specs.map($r).join("; ")})}),t("\
td",{"data-label":"Time zone",children:o.timeZone}),t("td",{"data-label":"Next",children:t(O,{at:o.nextAt})}),t("td",{class:"num","data-label":"Created",children:o.
created})]},o.id))}),(a.nextCursor||n)&&t("div",{class:"pager",children:[t("span",{}),t("span",{class:"pager-buttons",children:[n&&t("a",{class:"button",href:A(
["schedules"],{status:e}),children:"First page"}),a.nextCursor&&t("a",{class:"button",href:A(["schedules"],{status:e,cursor:a.nextCursor}),children:"Next page"})]})]})]})})})]})}
var qa={gap:"The clocks skip its local time; it occurs after the gap.",first:"The clocks repeat its local time; this is the first of the two.",second:"The clock\
s repeat its local time; this is the second of the two."};function bn({of:e,timeZone:n}){return e.length===0?t(M,{title:"There are no further occurrences."}):t(
ae,{caption:"Next occurrences",head:[`Local time (${n})`,"Instant","Remark"],stack:!0,children:e.map(r=>t("tr",{children:[t("td",{"data-label":"Local time",children:r.
local.replace("T"," ")}),t("td",{"data-label":"Instant",children:t(O,{at:r.at})}),t("td",{"data-label":"Remark",children:r.remark?t(y,{children:[t(re,{kind:"ret\
rying",children:"DST"})," ",qa[r.remark]]}):t("span",{class:"muted",children:"\u2013"})})]},r.at))})}function Pr({id:e}){let n=$.value,r=F(`schedule/${n}/${e}`,
3e3,u=>R("schedules/get",{namespace:n,id:e},u)),s=r.data,a=F(`preview/${n}/${e}/${s?.version??0}`,3e4,u=>R("schedules/preview",{namespace:n,id:e,limit:10},u)),o=F(
`decisions/${n}/${e}`,5e3,u=>R("schedules/history",{namespace:n,id:e,limit:50},u)),[i,l]=h(null);J(()=>(Te.value=s?.timeZone??null,()=>{Te.value=null}),[s?.timeZone]);
let c=()=>{r.again(),o.again(),a.again()},d=s&&le("write",n)&&s.status!=="ended"&&t(y,{children:[t(x,{kind:"primary",onClick:()=>{l("trigger")},children:"Trigge\
r\u2026"}),s.status==="active"?t(x,{onClick:()=>{l("pause")},children:"Pause\u2026"}):t(x,{onClick:()=>{l("resume")},children:"Resume\u2026"}),t(x,{onClick:()=>{
l("backfill")},children:"Backfill\u2026"}),t(x,{kind:"danger-ghost",onClick:()=>{l("delete")},children:"Delete\u2026"})]});return t(z,{title:e,crumb:t(y,{children:[
t("a",{href:A(["schedules"]),children:"Schedules"})," / ",n]}),actions:d,children:[t(q,{of:r,children:u=>t("div",{class:"grid",children:[t(Ha,{of:u}),t(N,{title:"\
Timer of an occurrence",children:[t(Je,{value:Ua(u.timer),label:"Template"}),ye.hidePayloads&&t("p",{class:"hint",children:"Its payload, body and headers are hi\
dden by the settings of the server."})]}),t(N,{title:"Next occurrences",wide:!0,flush:!0,aside:a.data&&t("span",{class:"muted",children:["time zones ",a.data.zoneVersion]}),
children:[u.status==="paused"&&t("p",{class:"callout",children:"The schedule is paused: these occurrences are not created until it is resumed."}),t(q,{of:a,children:p=>t(
bn,{of:p.occurrences,timeZone:p.timeZone})})]}),t(N,{title:"Decisions",wide:!0,flush:!0,children:t(q,{of:o,children:({decisions:p})=>p.length===0?t(M,{title:"No\
 occurrence was due yet."}):t(ae,{caption:"Decisions about occurrences",head:["Occurrence","Decision","Reason","Timer"],stack:!0,children:p.map(f=>t("tr",{children:[
t("td",{"data-label":"Occurrence",children:t(O,{at:f.at})}),t("td",{"data-label":"Decision",children:t(re,{kind:f.decision==="created"?"done":f.decision==="skip\
ped"?"retrying":"paused",children:f.decision})}),t("td",{"data-label":"Reason",children:f.reason??t("span",{class:"muted",children:"\u2013"})}),t("td",{class:"i\
d","data-label":"Timer",children:f.timerId?t("a",{href:A(["timers",f.timerId]),children:f.timerId}):t("span",{class:"muted",children:"\u2013"})})]},f.at+f.decidedAt+
f.decision))})})})]})}),s&&i&&t(ja,{of:s,action:i,close:()=>{l(null)},after:c})]})}function Ha({of:e}){return t(N,{title:"Definition",aside:t(Se,{status:e.status}),
children:[e.pause&&t("div",{class:"callout",children:["Paused",e.pause.by&&` by ${e.pause.by}`," ",t(O,{at:e.pause.at}),e.pause.note&&`: ${e.pause.note}`]}),t(ke,
{of:[["Occurs",e.specs.map((n,r)=>t("div",{children:t("code",{children:$r(n)})},r))],["Time zone",e.timeZone],["Next",e.nextAt&&t(O,{at:e.nextAt})],["Created ti\
mers",e.created],["From",e.start&&t(O,{at:e.start})],["Until",e.end&&t(O,{at:e.end})],["At most",e.count],["Overlap",e.overlap],["Catch-up",e.catchUpWindow?`${e.
catchUp}, within ${j(e.catchUpWindow)}`:e.catchUp],["Skipped local times",e.gap],["Repeated local times",e.repeated],["Pause after dead",e.pauseOnDead],["Versio\
n",e.version],["Updated",t(O,{at:e.updatedAt})]]})]})}function ja({of:e,action:n,close:r,after:s}){let[a]=h(e),[o,i]=h(""),[l,c]=h("keep"),d={namespace:a.namespace,
id:a.id},u={close:r,after:s};switch(n){case"trigger":return t(pe,{...u,title:"Trigger",verb:"Trigger",path:"schedules/trigger",body:()=>d,done:`${a.id} has crea\
ted an occurrence.`,children:t("p",{children:"Creates an occurrence now, in addition to the planned ones."})});case"pause":return t(pe,{...u,title:"Pause",verb:"\
Pause",path:"schedules/pause",body:()=>({...d,note:o||void 0}),done:`${a.id} is paused.`,children:[t("p",{children:"A paused schedule creates no occurrences."}),
t(B,{label:"Note",value:o,set:i})]});case"resume":return t(pe,{...u,title:"Resume",verb:"Resume",path:"schedules/resume",body:()=>d,done:`${a.id} is resumed.`,children:t(
"p",{children:"The schedule continues with its next occurrence."})});case"delete":return t(pe,{...u,title:"Delete",verb:"Delete",danger:!0,path:"schedules/delet\
e",done:`${a.id} is deleted.`,after:()=>{oe(["schedules"])},body:()=>({...d,pending:l,ifVersion:a.version}),children:t(ce,{label:"Its timers that are not finish\
ed",value:l,set:c,options:[["keep","Keep them"],["delete","Delete them"]]})});default:return t(za,{of:a,...u})}}function za({of:e,close:n,after:r}){let[s,a]=h(""),
[o,i]=h(""),[l,c]=h(),[d,u]=h(""),[p,f]=h(!1),m=X(!1);J(()=>()=>{m.current=!0},[]);let g=async()=>{let C=de(o),v=de(s);if(!v||!C){c(new I(0,"INCOMPLETE","Enter \
both times."));return}f(!0),c(void 0),m.current=!1;let w=0,k=0;try{do{let T=await R("schedules/backfill",{namespace:e.namespace,id:e.id,from:v,to:C});w+=T.created,
k+=T.kept,v=T.nextFrom,u(`${ne(w,"occurrence")} created, ${k} existed${v?`, continuing at ${fe(v)}`:""}.`)}while(v&&!m.current);let _=`${e.id}: ${ne(w,"occurren\
ce")} created, ${k} existed`;v?be(`${_}. Stopped at ${fe(v)}.`,"warn"):be(`${_}.`),m.current||n()}catch(_){c(_ instanceof I?_:new I(0,"UNEXPECTED",String(_)))}f(
!1),r()};return t(Ie,{title:"Backfill",close:n,children:t("form",{onSubmit:C=>{C.preventDefault(),g()},children:[t("p",{children:"Creates the occurrences of a p\
ast time range that do not exist. They are delivered at once."}),t(B,{label:"From",type:"datetime-local",step:"1",value:s,set:a,required:!0}),t(B,{label:"Before",
type:"datetime-local",step:"1",value:o,set:i,required:!0,hint:"Not in the future."}),d&&t("p",{role:"status",class:"callout",children:d}),l&&t(he,{error:l}),t("\
div",{class:"dialog-foot",children:[p?t(x,{kind:"danger",onClick:()=>{m.current=!0},children:"Stop"}):t(x,{onClick:n,children:"Close"}),t("button",{type:"submit",
class:"button primary",disabled:p,children:p?"Working\u2026":"Backfill"})]})]})})}function Er(e,n){return`curl${xe.value?` \\
  -H "Authorization: Bearer $TIMERBUS_TOKEN"`:""} ${cr}/api/v1/${e} \\
  -d ${Ot(JSON.stringify(n,null,2))}`}function Nr(e,n){let r=[...n,...$.value==="default"?[]:[["--namespace",$.value]]],s=e.at(-1)??"";return["timerbus "+(s.startsWith(
"-")?[...e.slice(0,-1),`--id=${s}`]:e).map(Ot).join(" "),...r.filter(([,o])=>o).map(([o,i])=>`  ${o} ${Ot(i)}`)].join(` \\
`)}function Br(e){if(!e.trim())return{};try{return{value:ot(e)}}catch(n){return{error:`Not JSON: ${n.message}`}}}function kn(e){return Object.fromEntries(Object.
entries(e).filter(([n,r])=>r!==void 0&&(r!==""||n==="payload")))}function Rr({curl:e,cli:n}){return t(N,{title:"The same request",children:[t("h3",{children:"cu\
rl"}),t(Ft,{text:e,label:"curl"}),t("h3",{children:"Command line"}),t(Ft,{text:n,label:"Command line"})]})}function Dr({send:e,label:n}){let[r,s]=h(),[a,o]=h(!1),
i=async()=>{o(!0),s(void 0);try{await e()}catch(l){s(l instanceof I?l:new I(0,"INCOMPLETE",l.message))}o(!1)};return t(y,{children:[r&&t(he,{error:r}),!le("writ\
e",$.value)&&t("p",{class:"callout",children:["You have no right to write in ",$.value,"."]}),t("button",{type:"button",class:"button primary",disabled:a||!le("\
write",$.value),onClick:()=>{i()},children:a?"Sending\u2026":n})]})}var Or=[["fail","Refuse (409)"],["replace","Replace it"],["keep","Keep it"]];function Lr({children:e}){
return t("details",{class:"more",children:[t("summary",{children:"More settings"}),e]})}function Fr(){let[e,n]=h(""),[r,s]=h("in"),[a,o]=h("15m"),[i,l]=h(""),[c,
d]=h(""),[u,p]=h(pn),[f,m]=h("http://127.0.0.1:9000/"),[g,C]=h('{"order": 1842}'),[v,w]=h(""),[k,_]=h(""),[T,E]=h(""),[L,Q]=h(""),[K,ie]=h("fail"),U=Br(g),V=kn(
{namespace:$.value,id:e,executeIn:r==="in"?a:void 0,executeAt:r==="at"?de(i):void 0,executeAtLocal:r==="local"?c.length===16?c+":00":c:void 0,timeZone:r==="loca\
l"?u:void 0,callbackUrl:f,payload:U.value,retryPolicy:v?{maxAttempts:Number(v)}:void 0,callbackTimeout:k,correlationId:T,flowKey:L,onConflict:K}),S=[["--in",r===
"in"?a:""],["--at",r==="at"?de(i)??"":""],["--at-local",String(V.executeAtLocal??"")],["--time-zone",String(V.timeZone??"")],["--callback-url",f],["--payload",U.
value===void 0?"":JSON.stringify(U.value)],["--max-attempts",v],["--callback-timeout",k],["--correlation-id",T],["--flow-key",L],["--on-conflict",K]],b=async()=>{
if(U.error)throw new Error(U.error);if(r==="at"&&!de(i))throw new Error("Enter the time completely.");let{data:G,late:me}=await Pe("timers/create",V);be(me?`${G.
id} is replaced. An earlier delivery may have been sent.`:`${G.id} is created.`,me?"warn":"ok"),oe(["timers",G.id])};return t(z,{title:"Create timer",crumb:t(y,
{children:[t("a",{href:A(["timers"]),children:"Timers"})," / ",$.value]}),actions:t("a",{class:"button",href:A(["new","schedule"]),children:"Schedule instead"}),
children:t("div",{class:"grid form",children:[t(N,{title:"Timer",children:[t(B,{label:"Id",value:e,set:n,required:!0,placeholder:"order-1842",mono:!0,hint:"Uniq\
ue in the namespace."}),t(ce,{label:"When",value:r,set:s,options:[["in","After a duration"],["at","At an instant"],["local","At a local time"]]}),r==="in"&&t(B,
{label:"Duration",value:a,set:o,hint:"Such as 200ms, 30s, 1h30m or 1d12h."}),r==="at"&&t(B,{label:`Time (${ue.value==="utc"?"UTC":"local"})`,type:"datetime-loca\
l",step:"1",value:i,set:l}),r==="local"&&t(y,{children:[t(B,{label:"Local time",type:"datetime-local",step:"1",value:c,set:d}),t(B,{label:"Time zone",value:u,set:p,
hint:"If the rules of the zone change, the timer moves with them."})]}),t(B,{label:"Callback URL",value:f,set:m,mono:!0,hint:"Empty: an event on timerbus.fired."}),
t(ct,{label:"Payload (JSON)",value:g,set:C,error:U.error}),t(ce,{label:"If the id exists",value:K,set:ie,options:Or}),t(Lr,{children:[t(B,{label:"Attempts, at m\
ost",type:"number",value:v,set:w,hint:"1 to 1000; by default those of the namespace."}),t(B,{label:"Callback timeout",value:k,set:_,placeholder:"30s"}),t(B,{label:"\
Correlation id",value:T,set:E}),t(B,{label:"Flow key",value:L,set:Q,hint:"Timers with the same key share a limit of the namespace."})]}),t(Dr,{send:b,label:"Cre\
ate timer"})]}),t(Rr,{curl:Er("timers/create",V),cli:Nr(["timer","create",e||"order-1842"],S)})]})})}function Ir(){let[e,n]=h(""),[r,s]=h("cron"),[a,o]=h("0 8 *\
 * MON-FRI"),[i,l]=h("15m"),[c,d]=h("FREQ=MONTHLY;BYDAY=-1FR"),[u,p]=h(pn),[f,m]=h("http://127.0.0.1:9000/"),[g,C]=h(""),[v,w]=h("allow"),[k,_]=h("all"),[T,E]=h(
""),[L,Q]=h("fail"),[K,ie]=h(),[U,V]=h(),S=Br(g),b=r==="cron"?{cron:a}:r==="every"?{every:i}:{rrule:c},G=r!=="every",me=kn({namespace:$.value,id:e,specs:[b],timeZone:G?
u:void 0,overlap:v,catchUp:k,count:T?Number(T):void 0,timer:kn({callbackUrl:f,payload:S.value}),onConflict:L}),Wr=[[`--${r}`,String(Object.values(b)[0])],["--ti\
me-zone",G?u:""],["--callback-url",f],["--payload",S.value===void 0?"":JSON.stringify(S.value)],["--overlap",v],["--catch-up",k],["--count",T],["--on-conflict",
L]],Tn=JSON.stringify({namespace:$.value,specs:[b],timeZone:G?u:void 0});J(()=>{let Ue=new AbortController,Jr=setTimeout(()=>{R("schedules/preview",{...JSON.parse(
Tn),limit:6},Ue.signal).then(ut=>{ie(ut),V(void 0)},ut=>{!Ue.signal.aborted&&ut instanceof I&&(V(ut),ie(void 0))})},300);return()=>{clearTimeout(Jr),Ue.abort()}},
[Tn]);let Zr=async()=>{if(S.error)throw new Error(S.error);let{data:Ue}=await Pe("schedules/create",me);be(`${Ue.id} is created.`),oe(["schedules",Ue.id])};return t(
z,{title:"Create schedule",crumb:t(y,{children:[t("a",{href:A(["schedules"]),children:"Schedules"})," / ",$.value]}),actions:t("a",{class:"button",href:A(["new",
"timer"]),children:"Timer instead"}),children:t("div",{class:"grid form",children:[t(N,{title:"Schedule",children:[t(B,{label:"Id",value:e,set:n,required:!0,placeholder:"\
daily-report",mono:!0}),t(ce,{label:"Occurs",value:r,set:s,options:[["cron","Cron expression"],["every","Interval"],["rrule","RRULE"]]}),r==="cron"&&t(B,{label:"\
Cron expression",value:a,set:o,mono:!0,hint:"Minute, hour, day of month, month, day of week; 6 fields begin with seconds."}),r==="every"&&t(B,{label:"Interval",
value:i,set:l,hint:"At least 1s."}),r==="rrule"&&t(B,{label:"RRULE",value:c,set:d,mono:!0}),G&&t(B,{label:"Time zone",value:u,set:p}),t(B,{label:"Callback URL",
value:f,set:m,mono:!0,hint:"Empty: an event on timerbus.fired."}),t(ct,{label:"Payload (JSON)",value:g,set:C,error:S.error,rows:3}),t(ce,{label:"If the id exist\
s",value:L,set:Q,options:Or}),t(Lr,{children:[t(ce,{label:"If the earlier occurrence is not finished",value:v,set:w,options:[["allow","Create the next one"],["s\
kip","Leave the next one out"],["queue","Create it afterwards"],["cancelOther","Delete the earlier one"]]}),t(ce,{label:"After an outage",value:k,set:_,options:[
["all","Create all of the last minute"],["last","Create the last one"],["none","Create none"]]}),t(B,{label:"Occurrences, at most",type:"number",value:T,set:E})]}),
t(Dr,{send:Zr,label:"Create schedule"})]}),t("div",{class:"column",children:[t(N,{title:"Next occurrences",flush:!0,children:[U&&t(he,{error:U}),K&&t(bn,{of:K.occurrences,
timeZone:K.timeZone})]}),t(Rr,{curl:Er("schedules/create",me),cli:Nr(["schedule","create",e||"daily-report"],Wr)})]})]})})}function Mr(){let e=F("namespaces",15e3,()=>Nt()),[n,r]=h(!1);return t(z,{title:"Namespaces",actions:We("admin")&&t(x,{kind:"primary",onClick:()=>{r(!0)},children:"\
Create namespace\u2026"}),children:[t(N,{flush:!0,wide:!0,children:t(q,{of:e,children:s=>s.length===0?t(M,{title:"You may read no namespace.",command:"timerbus \
key list",children:"Ask an administrator for a grant such as read@default."}):t(y,{children:[un.value&&t("p",{class:"callout",children:["The first ",P(s.length),
" namespaces. ",t("code",{children:"timerbus namespace list"})," prints all."]}),t(ae,{caption:"Namespaces",head:["Namespace","Shards","History","Dead","Host co\
ncurrency","Max. pending","Signed","Updated"],stack:!0,children:s.map(a=>t("tr",{children:[t("td",{class:"id","data-label":"Namespace",children:[t("a",{href:A([
"namespaces",a.name]),children:a.name})," ",a.deletingSince&&t(re,{kind:"dead",children:"being deleted"})]}),t("td",{class:"num","data-label":"Shards",children:a.
numShards}),t("td",{"data-label":"History",children:j(a.settings.historyRetention)}),t("td",{"data-label":"Dead",children:j(a.settings.deadRetention)}),t("td",{
class:"num","data-label":"Host concurrency",children:a.settings.hostConcurrency}),t("td",{class:"num","data-label":"Max. pending",children:a.settings.quota?.maxPending?
P(a.settings.quota.maxPending):t("span",{class:"muted",children:"no limit"})}),t("td",{"data-label":"Signed",children:a.settings.secrets?.length?"yes":t("span",
{class:"muted",children:"no"})}),t("td",{"data-label":"Updated",children:t(O,{at:a.updatedAt,only:"relative"})})]},a.name))})]})})}),n&&t(Wa,{close:()=>{r(!1)},
after:e.again})]})}function Wa({close:e,after:n}){let[r,s]=h(""),[a,o]=h("small");return t(pe,{title:"Create namespace",verb:"Create",path:"namespaces/create",body:()=>r?
{name:r,preset:a}:"Enter a name.",done:`${r} is created.`,close:e,after:n,children:[t(B,{label:"Name",value:r,set:s,required:!0}),t(ce,{label:"Size",value:a,set:o,
hint:"It can never be changed.",options:[["small","Below 10,000 timers (16 shards)"],["medium","Below 1,000,000 (256)"],["large","Below 10,000,000 (1,024)"],["x\
large","Below 100,000,000 (4,096)"]]})]})}function Ur({name:e}){let n=F(`namespace/${e}`,5e3,c=>R("namespaces/get",{name:e},c)),[r,s]=h(null),[a,o]=h(!1),i=c=>{
s({title:`${c==="pause"?"Pause":"Resume"} ${e}`,verb:c==="pause"?"Pause":"Resume",done:c==="pause"?"paused":"resumed",path:`timers/${c}-matching`,filter:{namespace:e},
describe:c==="pause"?"All scheduled and retrying timers of the namespace. Timers that are created later are not paused.":"All paused timers of the namespace.",count:(d,u)=>gn(
{namespace:e},c==="resume"?["paused"]:["scheduled","retrying"],d,u)})},l=n.data&&t(y,{children:[le("write",e)&&t(x,{onClick:()=>{i("pause")},children:"Pause all\
 timers\u2026"}),le("write",e)&&t(x,{onClick:()=>{i("resume")},children:"Resume all timers\u2026"}),le("admin",e)&&t(x,{kind:"primary",onClick:()=>{o(!0)},children:"\
Edit\u2026"})]});return t(z,{title:e,crumb:t("a",{href:A(["namespaces"]),children:"Namespaces"}),actions:l,children:[t(q,{of:n,children:c=>{let d=c.settings,u=d.
retryPolicy;return t("div",{class:"grid",children:[t(N,{title:"Settings",aside:c.deletingSince&&t(re,{kind:"dead",children:"being deleted"}),children:t(ke,{of:[
["Shards",c.numShards],["Callback timeout",j(d.callbackTimeout)],["Retry",`${ne(u.maxAttempts,"attempt")}, from ${j(u.initialInterval)}, \xD7 ${JSON.stringify(u.
backoffMultiplier)}, to ${j(u.maxInterval)}`],["History",j(d.historyRetention)],["Dead timers",j(d.deadRetention)],["Payloads of done timers",d.keepPayload?j(d.
keepPayload):"not kept"],["Final statuses",d.finalStatuses?.join(", ")],["Event topics",d.eventTopics?.join(", ")],["On done",d.onDone&&t("code",{children:d.onDone})],
["On dead",d.onDead&&t("code",{children:d.onDead})],["Result events",d.results],["Headers",d.headers&&Object.keys(d.headers).join(", ")],["Version",c.version],[
"Updated",t(O,{at:c.updatedAt})]]})}),t(N,{title:"Limits",children:t(ke,{of:[["Calls of one host",`${d.hostConcurrency} for each dispatcher`],["Pending timers",
d.quota?.maxPending?P(d.quota.maxPending):"no limit"],["Creates",d.quota?.createsPerSecond?`${P(d.quota.createsPerSecond)} per second`:"no limit"],["Payload",d.
quota?.maxPayloadBytes?`${P(d.quota.maxPayloadBytes)} bytes`:"102,400 bytes"],...(d.flows??[]).map(p=>[`Flow ${p.pattern}`,[p.rate&&`${p.rate.count} per ${j(p.rate.
per)}`,p.concurrency&&`${p.concurrency} at a time`].filter(Boolean).join(", ")])]})}),t(N,{title:"Keys of signatures",flush:!0,wide:!0,children:d.secrets?.length?
t(ae,{caption:"Keys of signatures",head:["Id","Created","Expires"],children:d.secrets.map(p=>t("tr",{children:[t("td",{children:t("code",{children:p.id})}),t("t\
d",{children:t(O,{at:p.createdAt})}),t("td",{children:p.expiresAt?t(O,{at:p.expiresAt}):"never"})]},p.id))}):t(M,{title:"Callbacks of this namespace are not sig\
ned.",command:`timerbus namespace update ${e} --secret -`,children:"Set a secret with the CLI:"})}),(d.callbackAuth||d.tls)&&t(N,{title:"Authentication of callb\
acks",children:t(ke,{of:[["Type",d.callbackAuth?.type],["Token endpoint",d.callbackAuth?.tokenUrl],["Client",d.callbackAuth?.clientId??d.callbackAuth?.username],
["Own authorities",d.tls?.ca&&"yes"],["Client certificate",d.tls?.certificate&&"yes"]]})})]})}}),r&&t(Ke,{action:r,close:()=>{s(null)},after:n.again}),a&&n.data&&
t(Za,{of:n.data,close:()=>{o(!1)},after:n.again})]})}function Za({of:e,close:n,after:r}){let[s]=h(e),a=s.settings,o={callbackTimeout:j(a.callbackTimeout),historyRetention:j(
a.historyRetention),deadRetention:j(a.deadRetention),hostConcurrency:String(a.hostConcurrency),maxPending:String(a.quota?.maxPending??"")},[i,l]=h(o),c=u=>p=>{l(
{...i,[u]:p})},d=()=>{let u={};for(let p of["callbackTimeout","historyRetention","deadRetention"])i[p]!==o[p]&&(u[p]=i[p]||null);return i.hostConcurrency!==o.hostConcurrency&&
(u.hostConcurrency=i.hostConcurrency?Number(i.hostConcurrency):null),i.maxPending!==o.maxPending&&(u.quota={...a.quota,maxPending:i.maxPending?Number(i.maxPending):
null}),Object.keys(u).length?{name:s.name,settings:u,ifVersion:s.version}:"Nothing has changed."};return t(pe,{title:`Edit ${s.name}`,verb:"Save",path:"namespac\
es/update",body:d,done:`${s.name} is updated.`,close:n,after:r,children:[t(B,{label:"Callback timeout",value:i.callbackTimeout,set:c("callbackTimeout"),hint:"1s\
 to 5m"}),t(B,{label:"History retention",value:i.historyRetention,set:c("historyRetention")}),t(B,{label:"Dead retention",value:i.deadRetention,set:c("deadReten\
tion")}),t(B,{label:"Calls of one host for each dispatcher",type:"number",value:i.hostConcurrency,set:c("hostConcurrency"),hint:"1 to 1024"}),t(B,{label:"Pendin\
g timers, at most",type:"number",value:i.maxPending,set:c("maxPending"),hint:"Empty: no limit"}),t("p",{class:"hint",children:["Empty fields get their default. \
All other settings: ",t("code",{children:["timerbus namespace update ",s.name," --help"]})]})]})}var Ja=50;function Ka(e){if(!e.held)return"free";let n=mn(e.overdueFor??"");return n>=6e4?"l4":n>=1e4?"l3":n>=2e3?"l2":n>0?"l1":"l0"}var Va=[["l0","nothing over\
due"],["l1","< 2 s"],["l2","< 10 s"],["l3","< 1 min"],["l4","longer"],["free","no owner"]];function qr(){let e=$.value,n=F(`shards/${e}`,5e3,a=>R("shards/list",
{namespace:e},a)),[r,s]=h(Ja);return t(z,{title:"Shards",children:t(q,{of:n,children:({shards:a})=>{let o=a.filter(p=>!p.held).length,i=a.filter(p=>p.overdueFor),
l=Math.max(0,...i.map(p=>mn(p.overdueFor??""))),c=new Map;for(let p of a)p.held&&c.set(p.node??"",(c.get(p.node??"")??0)+1);let d=Math.max(1,...c.values()),u=it();
return t(y,{children:[t("div",{class:"tiles",children:[t(Y,{label:"Shards",value:P(a.length),hint:e}),t(Y,{label:"Without an owner",value:P(o),kind:o?"warn":"",
hint:o?"no scheduler runs, or one just ended":"all are owned"}),t(Y,{label:"With overdue timers",value:P(i.length),kind:l>1e4?"warn":"",hint:l?`longest ${ve(l)}`:
"none"}),t(Y,{label:"Nodes",value:P(c.size),hint:"that own shards"})]}),t("div",{class:"grid",children:[t(N,{title:"Lag",wide:!0,aside:t("div",{class:"legend",children:Va.
map(([p,f])=>t("span",{children:[t("i",{class:`cell ${p}`}),f]},p))}),children:t("div",{class:"heat",role:"img","aria-label":`${ne(a.length,"shard")}: ${o} with\
out an owner, ${i.length} with overdue timers. The table below has each of them.`,children:a.map(p=>t("i",{class:`cell ${Ka(p)}`,title:`shard ${p.shard}, partit\
ion ${p.partition}, ${p.held?p.node:"no owner"}${p.overdueFor?`, overdue for ${p.overdueFor}`:""}`},p.shard))})}),t(N,{title:"Balance",wide:!0,children:c.size===
0?t(M,{title:"No node owns a shard.",command:"timerbus scheduler --help",children:"Start a scheduler:"}):t("ul",{class:"balance",children:[...c].sort(([p],[f])=>p<
f?-1:1).map(([p,f])=>t("li",{children:[t("span",{class:"clip",children:p}),t("span",{class:"meter","aria-hidden":"true",children:t("span",{style:{width:`${f/d*100}\
%`}})}),t("span",{class:"num",children:ne(f,"shard")})]},p))})}),t(N,{title:"Every shard",wide:!0,flush:!0,children:[t(ae,{caption:"Shards",head:["Shard","Parti\
tion","Owner","Claimed","Watermark","Next due","Overdue for"],stack:!0,children:a.slice(0,r).map(p=>t("tr",{children:[t("td",{class:"num","data-label":"Shard",children:p.
shard}),t("td",{class:"num","data-label":"Partition",children:p.partition}),t("td",{class:"clip","data-label":"Owner",children:p.held?p.node:t(re,{kind:"retryin\
g",children:"none"})}),t("td",{"data-label":"Claimed",children:t(O,{at:p.claimedAt,only:"relative"})}),t("td",{"data-label":"Watermark",children:p.watermark?t("\
time",{dateTime:p.watermark,title:p.watermark,children:[ve(Math.max(0,u-Date.parse(p.watermark)))," behind"]}):t("span",{class:"muted",children:"\u2013"})}),t("\
td",{"data-label":"Next due",children:t(O,{at:p.nextDueAt,only:"relative"})}),t("td",{class:"num","data-label":"Overdue for",children:p.overdueFor??t("span",{class:"\
muted",children:"\u2013"})})]},p.shard))}),a.length>r&&t("div",{class:"pager",children:[t("span",{class:"muted",children:[r," of ",P(a.length)]}),t(x,{onClick:()=>{
s(r+500)},children:"Show more"})]})]})]})]})}})})}function Ga(){let e=X(new Ge("dispatcher_callback_seconds_count")),n=$.value,r=F(`callbacks/${n}`,3e3,async()=>{let a=new Ve(await At()),o=e.current.add(a),i=l=>a.
quantile(l,"dispatcher_callback_seconds",o,{namespace:n});return{called:a.sum("dispatcher_hosts",{state:"called"}),queued:a.sum("dispatcher_hosts",{state:"queue\
d"}),open:a.sum("dispatcher_hosts",{state:"open"}),inFlight:a.sum("dispatcher_in_flight"),p50:i(.5),p99:i(.99),results:[...a.by("dispatcher_callbacks_total","re\
sult",{namespace:n})].filter(([,l])=>l>0)}}),s=a=>a===void 0?"\u2013":ve(a*1e3);return t(q,{of:r,children:a=>a.called===void 0?t("p",{class:"callout",children:[
"This process delivers no timers, so it knows no hosts. Dispatchers export their figures at ",t("code",{children:"/metrics"}),"."]}):t(y,{children:[t("div",{class:"\
tiles",children:[t(Y,{label:"Hosts called",value:P(a.called),hint:"with calls in flight"}),t(Y,{label:"Hosts with a queue",value:P(a.queued??0),hint:"timers wai\
t for a permit",kind:a.queued?"warn":""}),t(Y,{label:"Open circuits",value:P(a.open??0),hint:"hosts that do not answer",kind:a.open?"bad":""}),t(Y,{label:"In fl\
ight",value:P(a.inFlight??0),hint:"deliveries of this process"}),t(Y,{label:"Callback p50",value:s(a.p50),hint:`${n}, last minute`}),t(Y,{label:"Callback p99",value:s(
a.p99),hint:`${n}, last minute`})]}),a.results.length>0&&t(N,{title:`Answers of ${n} since the start of this process`,wide:!0,children:t("div",{class:"chips",children:a.
results.map(([o,i])=>t("span",{class:`chip ${o==="2xx"?"done":o==="3xx"?"":"dead"}`,children:[o," ",t("strong",{children:P(i)})]},o))})})]})})}function Xa(e){let n=e.
limit;return n?[n.rate&&`${P(n.rate.count)} per ${j(n.rate.per)}`,n.concurrency&&`${P(n.concurrency)} at a time`].filter(Boolean).join(", "):"no pattern matches"}
function Ya(){let e=$.value,n=F(`targets/${e}`,3e3,r=>R("targets/list",{namespace:e,limit:200},r));return t(N,{title:"Hosts and user topics",flush:!0,wide:!0,children:t(
q,{of:n,children:({delivers:r,targets:s})=>r?s.length===0?t(M,{title:`No timer of ${e} has been delivered since the start of this process.`}):t(ae,{caption:"Hos\
ts and user topics",head:["Target","Circuit","Running","Waiting","Concurrency"],stack:!0,children:s.map(a=>t("tr",{children:[t("td",{class:"id","data-label":"Ta\
rget",children:a.target}),t("td",{"data-label":"Circuit",children:a.circuitOpen?t(re,{kind:"dead",children:"open"}):t(re,{kind:"done",children:"closed"})}),t("t\
d",{class:"num","data-label":"Running",children:P(a.running)}),t("td",{class:"num","data-label":"Waiting",children:P(a.waiting)}),t("td",{class:"num","data-labe\
l":"Concurrency",children:P(a.concurrency)})]},a.target))}):t(M,{title:"This process delivers no timers, so it knows no hosts.",children:"Dispatchers that run a\
s separate processes do not share this state."})})})}function Hr(){let e=$.value,n=te.value.query.get("after")??"",r=F(`flows/${e}/${n}`,3e3,s=>R("flows/list",{
namespace:e,after:n||void 0,limit:100},s));return t(z,{title:"Targets",children:[We("read")?t(Ga,{}):t("p",{class:"callout",children:"The figures of hosts need \
the right to read all namespaces."}),t(Ya,{}),t(N,{title:"Flow keys",flush:!0,wide:!0,children:t(q,{of:r,children:s=>t(y,{children:[s.flows.length===0?t(M,{title:`\
No flow of ${e} is in use.`,command:`timerbus namespace update ${e} --flow 'tenant-*:10/1s,concurrency=2'`,children:"Timers with the same flow key share a limit\
. Set limits with the CLI:"}):t(ae,{caption:"Flow keys",head:["Flow key","Limit","Running","Waiting","Backlog","Dispatchers"],stack:!0,children:s.flows.map(a=>t(
"tr",{children:[t("td",{class:"id","data-label":"Flow key",children:a.flowKey}),t("td",{"data-label":"Limit",children:Xa(a)}),t("td",{class:"num","data-label":"\
Running",children:P(a.running)}),t("td",{class:"num","data-label":"Waiting",children:P(a.waiting)}),t("td",{class:"num","data-label":"Backlog",children:P(a.backlog)}),
t("td",{class:"num","data-label":"Dispatchers",children:P(a.dispatchers)})]},a.flowKey))}),(s.next||n)&&t("div",{class:"pager",children:[t("span",{}),t("span",{
class:"pager-buttons",children:[n&&t("a",{class:"button",href:A(["targets"]),children:"First page"}),s.next&&t("a",{class:"button",href:A(["targets"],{after:s.next}),
children:"Next page"})]})]})]})})})]})}function zr({id:e}){let n=$.value,r=F(`timer/${n}/${e}`,2e3,d=>R("timers/get",{namespace:n,id:e},d)),s=F(`history/${n}/${e}`,3e3,d=>R("timers/history",{namespace:n,
id:e,limit:200},d)),[a,o]=h(null),i=r.data,l=()=>{r.again(),s.again()},c=i&&le("write",n)&&t(y,{children:[i.status==="dead"||i.status==="parked"||i.status==="do\
ne"?t(x,{kind:"primary",onClick:()=>{o("retry")},children:"Retry\u2026"}):t(y,{children:[i.status!=="paused"&&t(x,{kind:"primary",onClick:()=>{o("run")},children:"\
Run now\u2026"}),i.status==="paused"?t(x,{onClick:()=>{o("resume")},children:"Resume\u2026"}):t(x,{onClick:()=>{o("pause")},children:"Pause\u2026"})]}),i.status!==
"dead"&&i.status!=="done"&&t(y,{children:[t(x,{onClick:()=>{o("update")},children:"Update\u2026"}),t(x,{kind:"danger-ghost",onClick:()=>{o("delete")},children:"\
Delete\u2026"})]})]});return t(z,{title:e,crumb:t(y,{children:[t("a",{href:A(["timers"]),children:"Timers"})," / ",n]}),actions:c,children:[t(q,{of:r,children:d=>t(
"div",{class:"grid",children:[t(Qa,{of:d}),t(es,{of:d}),t(N,{title:"Attempts",wide:!0,children:t(q,{of:s,children:({attempts:u})=>t(ts,{attempts:u,of:d})})})]})}),
r.error?.status===404&&t(M,{title:"This timer does not exist, or its history has expired.",children:t("a",{href:A(["timers"]),children:["All timers of ",n]})}),
i&&a&&t(ns,{of:i,action:a,close:()=>{o(null)},after:l})]})}function Qa({of:e}){let n=e.retryPolicy,r=e.status==="done"||e.status==="dead";return t(N,{title:"Sta\
te",aside:t(Se,{status:e.status}),children:[e.lastError&&t("div",{class:"callout bad",children:[t("strong",{children:e.lastStatusCode?`HTTP ${e.lastStatusCode}`:
"Last error"})," ",e.lastError]}),e.pause&&t("div",{class:"callout",children:["Paused",e.pause.by&&` by ${e.pause.by}`," ",t(O,{at:e.pause.at}),e.pause.note&&`:\
 ${e.pause.note}`]}),t(ke,{of:[["Due",r?void 0:t(O,{at:e.dueAt})],["Execute at",t(O,{at:e.executeAt})],["Local time",e.executeAtLocal&&`${e.executeAtLocal.replace(
"T"," ")} ${e.timeZone}`],["Last attempt",e.executedAt&&t(O,{at:e.executedAt})],["Attempts",`${e.attempts} of ${n.maxAttempts}`],["Retry",`from ${j(n.initialInterval)}\
, \xD7 ${JSON.stringify(n.backoffMultiplier)}, to ${j(n.maxInterval)}`+(n.maxAttemptsDuration&&n.maxAttemptsDuration!=="0s"?`, for ${j(n.maxAttemptsDuration)}`:
"")],["Window",e.window],["Expires",e.expiresAt&&t(O,{at:e.expiresAt})],["Flow key",e.flowKey&&t("code",{children:e.flowKey})],["On done",e.onDone&&t("code",{children:e.
onDone})],["On dead",e.onDead&&t("code",{children:e.onDead})],["Correlation id",t("a",{href:A(["timers"],{correlationId:e.correlationId}),children:t("code",{children:e.
correlationId})})],["Created",t(O,{at:e.createdAt})],["Updated",t(O,{at:e.updatedAt})],["Generation",t("code",{children:e.generation})],["UUID",t("code",{children:e.
uuid})]]})]})}function es({of:e}){let n=!ye.hidePayloads,r=t("p",{class:"muted",children:"Hidden by the settings of the server."});return t(N,{title:"Request",children:[
t(ke,{of:[["Delivers",e.deliver],["Method",e.request?.method??(e.callbackUrl?"POST":void 0)],["URL",e.callbackUrl&&t("span",{class:"url",children:[t("code",{children:e.
callbackUrl})," ",t(Lt,{text:e.callbackUrl})]})],["Topic",e.topic&&t("code",{children:e.topic})],["Key",e.key&&t("code",{children:e.key})],["Timeout",j(e.callbackTimeout)],
["Content type",e.request?.contentType]]}),e.headers&&Object.keys(e.headers).length>0&&t(y,{children:[t("h3",{children:"Headers"}),n?t(ke,{of:Object.entries(e.headers).
map(([s,a])=>[s,t("code",{children:a})])}):r]}),t("h3",{children:"Payload"}),n?e.payload!==void 0?t(Je,{value:e.payload,label:"Payload"}):e.request?.body!==void 0?
t(Je,{value:e.request.body,label:"Body"}):e.request?.bodyBase64!==void 0?t(Je,{value:e.request.bodyBase64,label:"Body, base64"}):t("p",{class:"muted",children:e.
status==="done"?"A done timer is shown without its payload.":"This timer has no payload."}):r]})}var jr={done:"done",rescheduled:"scheduled",failed:"retrying",dead:"\
dead",expired:"parked"};function ts({attempts:e,of:n}){if(e.length===0)return t(M,{title:"No attempt has ended yet.",children:n.status==="scheduled"&&t(y,{children:[
"The first one begins ",t(O,{at:n.dueAt}),"."]})});let r=o=>Date.parse(o.finishedAt)-Date.parse(o.startedAt),s=Math.max(1,...e.map(r)),a=(o,i)=>{let l=e[i+1];return Date.
parse(o.startedAt)-Date.parse(l?.generation===o.generation&&l.nextAt?l.nextAt:o.executeAt)};return t("ol",{class:"timeline",children:e.map((o,i)=>t("li",{class:jr[o.
outcome],children:[t("div",{class:"timeline-head",children:[t(re,{kind:jr[o.outcome],children:o.outcome}),t("strong",{children:["Attempt ",o.attempt]}),t(O,{at:o.
startedAt}),t("span",{class:"muted",children:[ve(Math.max(0,a(o,i)))," late"]})]}),t("div",{class:"timeline-body",children:[t("span",{children:[n.callbackUrl?t(
y,{children:[t("code",{children:n.request?.method??"POST"})," \u2192 "]}):"published \u2192 ",o.statusCode?t("strong",{children:["HTTP ",o.statusCode]}):o.error?
"no answer":"accepted"]}),t("span",{class:"meter","aria-hidden":"true",children:t("span",{style:{width:`${Math.max(1,r(o)/s*100)}%`}})}),t("span",{class:"num",children:ve(
r(o))})]}),o.error&&t("p",{class:"timeline-error",children:o.error}),o.nextAt&&t("p",{class:"muted",children:["Next attempt: ",t(O,{at:o.nextAt})]})]},o.generation+
o.attempt+o.startedAt))})}function ns({of:e,action:n,close:r,after:s}){let[a]=h(e),[o,i]=h(""),[l,c]=h("deliver"),[d,u]=h(""),p={namespace:a.namespace,id:a.id,ifGeneration:a.
generation},f={close:r,after:s};switch(n){case"run":return t(pe,{...f,title:"Run now",verb:"Run now",path:"timers/run-now",body:()=>p,done:`${a.id} runs now.`,children:t(
"p",{children:"The timer becomes due at once, as a new run of attempts."})});case"pause":return t(pe,{...f,title:"Pause",verb:"Pause",path:"timers/pause",body:()=>({
...p,note:o||void 0}),done:`${a.id} is paused.`,children:[t("p",{children:"A paused timer is not delivered until it is resumed."}),t(B,{label:"Note",value:o,set:i,
hint:"Why it is paused; shown to everyone who may read it."})]});case"resume":return t(pe,{...f,title:"Resume",verb:"Resume",path:"timers/resume",body:()=>({...p,
overdue:l}),done:`${a.id} is resumed.`,children:t(ce,{label:"If its time has passed",value:l,set:c,options:[["deliver","Deliver it now"],["skip","Let it expire"]]})});case"\
retry":return t(pe,{...f,title:"Retry",verb:"Retry",path:"timers/retry",body:()=>({...p,executeIn:d||void 0}),done:`${a.id} is scheduled again.`,children:[t("p",
{children:["The timer starts again at attempt 1",a.status==="done"&&". A done timer can be retried only if its namespace keeps payloads","."]}),t(B,{label:"Dela\
y",value:d,set:u,placeholder:"0s",hint:"Such as 10m; now if it is empty."})]});case"delete":return t(pe,{...f,title:"Delete",verb:"Delete",danger:!0,path:"timer\
s/delete",body:()=>p,done:`${a.id} is deleted.`,after:()=>{oe(["timers"])},children:t("p",{children:["Delete ",t("code",{children:a.id}),"? It is not delivered \
any more."]})});default:return t(rs,{of:a,...f})}}function rs({of:e,close:n,after:r}){let s={at:Be(e.executeAt),url:e.callbackUrl??"",payload:e.payload===void 0?
"":JSON.stringify(e.payload,null,2)},[a,o]=h(s.at),[i,l]=h(s.url),[c,d]=h(s.payload);return t(pe,{title:"Update",verb:"Save",path:"timers/update",body:()=>{let p={};
if(a!==s.at){let f=de(a);if(!f)return"Enter the time completely.";p.executeAt=f}if(i!==s.url&&(p.callbackUrl=i||null),c!==s.payload)try{p.payload=c.trim()?ot(c):
null}catch(f){return`The payload is not JSON: ${f.message}`}return Object.keys(p).length===0?"Nothing has changed.":{namespace:e.namespace,id:e.id,ifGeneration:e.
generation,...p}},done:`${e.id} is updated.`,close:n,after:r,children:[t(B,{label:"Time",type:"datetime-local",step:"1",value:a,set:o}),t(B,{label:"Callback URL",
value:i,set:l,mono:!0}),ye.hidePayloads?t("p",{class:"muted",children:"Payloads are hidden by the settings of the server."}):t(ct,{label:"Payload (JSON)",value:c,
set:d,rows:8}),t("p",{class:"hint",children:"Only changed fields are sent. The update starts again at attempt 1, and fails if the timer has changed since."})]})}var xn=[["overview","Overview","o"],["timers","Timers","t"],["dead","Dead letters","d"],["schedules","Schedules","s"],["namespaces","Namespaces","n"],["targets",
"Targets","a"],["shards","Shards","h"]];function as(){let[e="overview",n,r]=te.value.path,s=`${e}/${$.value}/${n??""}`;if(!Ce.value&&(e==="overview"||e==="targe\
ts"))return t("div",{class:"skeleton",role:"status",children:t("span",{class:"sr",children:"Loading"})});switch(e){case"overview":return t(xr,{},s);case"timers":
return n===void 0?t(Cr,{},s):t(zr,{id:n},s);case"dead":return t(Sr,{},s);case"schedules":return n===void 0?t(Ar,{},s):t(Pr,{id:n},s);case"namespaces":return n===
void 0?t(Mr,{}):t(Ur,{name:n},n);case"targets":return t(Hr,{},s);case"shards":return t(qr,{},s);case"new":return n==="schedule"?t(Ir,{},s):t(Fr,{},s+(r??""));default:
return t(z,{title:"Not found",children:t(M,{title:"There is no such page.",children:t("a",{href:A(["overview"]),children:"Overview"})})})}}function ss({reason:e}){
let[n,r]=h(""),[s,a]=h(),[o,i]=h(!1);J(()=>{document.title="Sign in \xB7 Timerbus"},[]);let l=async()=>{let c=xe.value;i(!0),a(void 0),St(n.trim());try{await Pt()}catch(d){
St(c),a(d instanceof I?d:new I(0,"UNEXPECTED",String(d)))}i(!1)};return t("main",{class:"sign-in",children:t("form",{class:"card",onSubmit:c=>{c.preventDefault(),
l()},children:[t("h1",{children:[t(Cn,{})," Timerbus"]}),t("p",{children:"Sign in with the token of the service, the token of an API key, or a token of the iden\
tity provider."}),s?t(he,{error:s}):xe.value&&t("div",{class:"error",role:"alert",children:t("p",{children:e})}),t("div",{class:"field",children:[t("label",{for:"\
token",children:"Token"}),t("input",{id:"token",type:"password",value:n,autocomplete:"off",required:!0,"aria-describedby":"token-hint",onInput:c=>{r(c.currentTarget.
value)}}),t("p",{class:"hint",id:"token-hint",children:["It stays in this tab until the tab is closed. Create a key for reading with",t("code",{children:" timer\
bus key create ui --grant read@*"}),"."]})]}),t("button",{type:"submit",class:"button primary block",disabled:o,children:o?"Checking\u2026":"Sign in"})]})})}var Cn=()=>t(
"svg",{class:"mark",viewBox:"0 0 32 32","aria-hidden":"true",children:[t("rect",{width:"32",height:"32",rx:"7",class:"mark-back"}),t("circle",{cx:"16",cy:"16",r:"\
9",class:"mark-line"}),t("path",{d:"M16 10.5V16l4 2.6",class:"mark-line"})]});function os({close:e}){return t(Ie,{title:"Keyboard",close:e,children:[t("dl",{class:"\
facts keys",children:[xn.map(([,n,r])=>t("div",{children:[t("dt",{children:[t("kbd",{children:"g"})," ",t("kbd",{children:r})]}),t("dd",{children:n})]},r)),t("d\
iv",{children:[t("dt",{children:t("kbd",{children:"c"})}),t("dd",{children:"Create a timer"})]}),t("div",{children:[t("dt",{children:t("kbd",{children:"/"})}),t(
"dd",{children:"Search or filter"})]}),t("div",{children:[t("dt",{children:t("kbd",{children:"l"})}),t("dd",{children:"Live updates on or off"})]}),t("div",{children:[
t("dt",{children:t("kbd",{children:"?"})}),t("dd",{children:"This list"})]})]}),t("label",{class:"check",children:[t("input",{type:"checkbox",checked:Rt.value===
"on",onChange:n=>{Rt.value=n.currentTarget.checked?"on":"off"}}),"Use these keys"]})]})}var wn=0;function is(e){J(()=>{let n=r=>{let s=r.target;if(r.ctrlKey||r.
metaKey||r.altKey||s.closest("input, textarea, select, dialog, [contenteditable]"))return;if(r.key==="?"){e();return}if(Rt.value==="off")return;let a=Date.now()-
wn<1500;if(wn=0,a){let o=xn.find(([,,i])=>i===r.key);o&&oe([o[0]])}else if(r.key==="g")wn=Date.now();else if(r.key==="c")oe(["new","timer"]);else if(r.key==="l")
Ne.value=Ne.value==="on"?"off":"on";else if(r.key==="/"){let o=document.querySelector("[data-search]");o&&(r.preventDefault(),o.focus())}};return addEventListener(
"keydown",n),()=>{removeEventListener("keydown",n)}},[])}function ls(){let[e,n]=h(!1),[r,s]=h(!1);is(()=>{s(!0)}),J(()=>{Ce.value&&Nt().catch(()=>{})},[Ce.value?.
name]);let[a="overview"]=te.value.path;J(()=>{n(!1)},[te.value]);let o=[...new Set([$.value,...Et.value.map(c=>c.name)])].sort(),i=c=>{te.value.path.length>1&&a!==
"new"?oe([a],{ns:c}):ge({ns:c})};return t(y,{children:[t("button",{type:"button",class:"skip",onClick:()=>{document.querySelector("#main h1")?.focus()},children:"\
Skip to the content"}),t("header",{children:[t(x,{kind:"icon menu","aria-label":"Menu","aria-expanded":e,"aria-controls":"nav",onClick:()=>{n(!e)},children:"\u2630"}),
t("a",{class:"brand","aria-label":"Timerbus, overview",href:A(["overview"]),children:[t(Cn,{}),t("span",{children:"Timerbus"})]}),t("label",{class:"sr",for:"ns",
children:"Namespace"}),t("select",{id:"ns",class:"namespace",value:$.value,onChange:c=>{i(c.currentTarget.value)},children:o.map(c=>t("option",{value:c,selected:c===
$.value,children:c},c))}),t("div",{class:"spacer"}),ye.readOnly&&t("span",{class:"badge paused",children:"read-only"}),t("div",{class:`prefs${e?" open":""}`,children:[
t("label",{class:"sr",for:"zone",children:"Time zone"}),t("select",{id:"zone",value:ue.value,onChange:c=>{ue.value=c.currentTarget.value},children:[t("option",{
value:"local",selected:ue.value==="local",children:"Local time"}),t("option",{value:"utc",selected:ue.value==="utc",children:"UTC"}),t("option",{value:"schedule",
selected:ue.value==="schedule",children:["Schedule",Te.value?` (${Te.value})`:"\u2019s zone"]})]}),t(x,{kind:"ghost live","aria-pressed":Ne.value==="on",title:"\
Live updates",onClick:()=>{Ne.value=Ne.value==="on"?"off":"on"},children:[t("span",{class:"dot"}),"Live"]}),t("label",{class:"sr",for:"theme",children:"Colours"}),
t("select",{id:"theme",value:Ee.value,onChange:c=>{Ee.value=c.currentTarget.value},children:[t("option",{value:"auto",selected:Ee.value==="auto",children:"Auto"}),
t("option",{value:"light",selected:Ee.value==="light",children:"Light"}),t("option",{value:"dark",selected:Ee.value==="dark",children:"Dark"})]})]})]}),t("div",
{class:"frame",children:[t("nav",{id:"nav","aria-label":"Pages",class:e?"open":"",children:[t("ul",{children:xn.map(([c,d])=>t("li",{children:t("a",{href:A([c]),
"aria-current":a===c?"page":void 0,children:d})},c))}),t("div",{class:"nav-foot",children:[t("div",{children:Ce.value?.name==="anyone"?"no credential required":
Ce.value?.name}),xe.value&&t(x,{kind:"small",onClick:()=>{St(""),Ce.value=null,Et.value=[],ze.value=""},children:"Sign out"}),t(x,{kind:"small",onClick:()=>{s(!0)},
children:"Keyboard"}),t("div",{class:"version",children:[ye.version," \xB7 ",t("a",{href:"licenses.txt",children:"licences"})]})]})]}),t("main",{id:"main",children:t(
as,{})})]}),t("div",{class:"notices",role:"status","aria-live":"polite",children:Ze.value.map(c=>t("div",{class:`notice ${c.kind}`,children:[c.text,t(x,{kind:"i\
con","aria-label":"Dismiss",onClick:()=>{dn(c.id)},children:"\u2715"})]},c.id))}),r&&t(os,{close:()=>{s(!1)}})]})}var cs=Pt();function us(){let[e,n]=h(),r=(s=Pt())=>{
n(void 0),s.catch(a=>{a instanceof I&&a.status!==401&&n(a)})};return _t(()=>{r(cs)},[]),ze.value!==null?t(ss,{reason:ze.value}):e?t("main",{class:"sign-in",children:t(
"div",{class:"card",children:[t("h1",{children:[t(Cn,{})," Timerbus"]}),t(he,{error:e,again:()=>{r()}})]})}):t(ls,{})}In(t(us,{}),document.getElementById("app"));
